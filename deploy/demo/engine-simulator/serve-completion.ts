/** A completion from its request to its last byte. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { BLOCK_TOKENS } from "#gtm/simulation/serving/block-hash.ts";
import { totalBlocksOf } from "#gtm/simulation/serving/engine-options.ts";
import type { Frame } from "./answer-form.ts";
import { answerTo } from "./answer-text.ts";
import { createStreamWriter, createWholeWriter } from "./answer-writer.ts";
import { type Asked, isApiError, type ReadRequest } from "./completion-request.ts";
import type { EngineLife } from "./engine-life.ts";
import { inFlavour } from "./flavour-form.ts";
import { readJson } from "./json-body.ts";
import { type ApiError, apiError } from "./openai-error.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { blocksOf, fingerprintOf, type Tokens, tokensOf } from "./prompt.ts";
import { sendJson } from "./send-json.ts";

export type CompletionContext = {
  readonly options: EngineSimulatorOptions;
  readonly life: EngineLife;
  readonly isAsleep: boolean;
};

export type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** @param read how the API says it @param now what is there to serve it once its body has come */
export const serveCompletion = async (
  read: ReadRequest,
  { request, response }: Exchange,
  now: () => CompletionContext,
): Promise<void> => {
  const body = await readJson(request);
  if (body.kind === "error") return sendJson(response, body.status, body.body);
  const context = now();
  const asked = read(body.value, context.life.stored);
  if (isApiError(asked)) return sendJson(response, asked.status, asked.body);
  const prompt = tokensOf(asked.prompt);
  const roomTokens = limitOf(context) - prompt.count;
  const refusal = refusalOf(asked, prompt, context);
  if (refusal !== null) return sendJson(response, refusal.status, refusal.body);
  // A client that went away while it was sending has nothing to wait for.
  if (response.destroyed) return;
  const { options, life } = context;
  const { maxTokens, isEosIgnored, isUsageWanted } = asked;
  const form = inFlavour(asked.form, options.flavour);
  const answer = answerTo({
    fingerprint: fingerprintOf(prompt),
    seed: options.seed,
    maxTokens,
    isEosIgnored,
    roomTokens,
  });
  const id = life.nextId();
  const frame = frameOf(asked, id, context);
  const reply = { response, form, frame, answer, isUsageWanted };
  response.on("close", () => life.room.abort(id));
  const blocks = blocksOf(prompt, answer.text);
  const write = asked.isStream ? createStreamWriter(reply) : createWholeWriter(reply);
  life.room.submit(
    { id, promptTokens: prompt.count, outputTokens: answer.tokens, finishReason: answer.finishReason, blocks },
    (progress) => {
      // Before the client knows of it: its next request may be here at once.
      const isWritten = progress.kind === "finished" && progress.reason !== "abort";
      if (asked.isStored && isWritten) life.stored.keep(frame.id, asked.prompt, answer.text);
      write(progress);
    },
    rankIn(request, options.replicas),
  );
};

/** vLLM's data-parallel rank; what names no replica is left to the router. */
const rankIn = ({ headers }: IncomingMessage, replicas: number): number | null => {
  const said = headers["x-data-parallel-rank"];
  const rank = typeof said === "string" && /^\d{1,4}$/.test(said) ? Number(said) : null;
  return rank !== null && rank < replicas ? rank : null;
};

const limitOf = ({ options }: CompletionContext): number =>
  Math.min(options.contextLimitTokens, totalBlocksOf(options.engine) * BLOCK_TOKENS);

const refusalOf = (asked: Asked, prompt: Tokens, context: CompletionContext): ApiError | null => {
  const { options, isAsleep } = context;
  if (asked.model !== options.model && !options.aliases.includes(asked.model)) {
    return apiError(404, `The model \`${asked.model}\` does not exist.`, "model");
  }
  if (isAsleep) return apiError(503, "The engine is asleep.");
  const limit = limitOf(context);
  const wanted = asked.maxTokens ?? 1;
  if (prompt.count + wanted <= limit) return null;
  return apiError(
    400,
    `This model's maximum context length is ${limit} tokens. However, you requested ${prompt.count + wanted} tokens ` +
      `(${prompt.count} in the prompt, ${wanted} in the completion).`,
    asked.promptMember,
  );
};

const frameOf = (asked: Asked, id: number, { options, life }: CompletionContext): Frame => ({
  id: `${asked.form.idPrefix}${life.startedAtMs.toString(36)}-${id}`,
  created: Math.floor(options.clock.epochMs() / 1_000),
  model: asked.model,
});
