/** What a client asks for, in each API that the engine speaks, reduced to what an engine needs to know. */
import { z } from "zod";
import type { AnswerForm } from "./answer-form.ts";
import { CHAT_FORM, TEXT_FORM } from "./form-completion.ts";
import { MESSAGES_FORM } from "./form-messages.ts";
import { RESPONSES_FORM } from "./form-responses.ts";
import { type ApiError, apiError } from "./openai-error.ts";
import { type Message, openAnswer, promptOfMessages } from "./prompt.ts";
import type { StoredResponses } from "./stored-responses.ts";

export type Asked = {
  readonly form: AnswerForm;
  readonly model: string;
  readonly prompt: string;
  /** The member that holds the prompt, for errors about it. */
  readonly promptMember: string;
  readonly maxTokens: number | null;
  readonly isEosIgnored: boolean;
  readonly isStream: boolean;
  readonly isUsageWanted: boolean;
  /** Whether a later request may go on from the answer by its id. */
  readonly isStored: boolean;
};

/** @param body parsed JSON */
export type ReadRequest = (body: unknown, stored: StoredResponses) => Asked | ApiError;

const count = z.int().min(1).nullish();
const message = z.looseObject({ role: z.string(), content: z.unknown() });
const shared = {
  model: z.string(),
  max_tokens: count,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  /** One answer only. */
  n: z.literal(1).nullish(),
  /** vLLM's own: write all of max_tokens. */
  ignore_eos: z.boolean().nullish(),
};
const ChatBody = z.looseObject({
  ...shared,
  max_completion_tokens: count,
  messages: z.array(message).min(1),
});
const TextBody = z.looseObject({
  ...shared,
  prompt: z.union([z.string(), z.tuple([z.string()]).transform(([only]) => only)]),
});
const MessagesBody = z.looseObject({
  ...shared,
  max_tokens: z.int().min(1),
  /** Text, or blocks of which some are text. */
  system: z.unknown().optional(),
  messages: z.array(message).min(1),
});
const ResponsesBody = z.looseObject({
  ...shared,
  max_output_tokens: count,
  instructions: z.string().nullish(),
  input: z.union([z.string(), z.array(message).min(1)]),
  previous_response_id: z.string().nullish(),
  store: z.boolean().nullish(),
});

export const readChat: ReadRequest = (body) => {
  const parsed = ChatBody.safeParse(body);
  if (!parsed.success) return refusal(parsed.error);
  const { messages, max_completion_tokens: most } = parsed.data;
  const prompt = openAnswer(promptOfMessages(messages));
  return asked(CHAT_FORM, parsed.data, { prompt, promptMember: "messages", maxTokens: most });
};

export const readText: ReadRequest = (body) => {
  const parsed = TextBody.safeParse(body);
  if (!parsed.success) return refusal(parsed.error);
  return asked(TEXT_FORM, parsed.data, { prompt: parsed.data.prompt, promptMember: "prompt" });
};

export const readMessages: ReadRequest = (body) => {
  const parsed = MessagesBody.safeParse(body);
  if (!parsed.success) return refusal(parsed.error);
  const { system, messages } = parsed.data;
  const prompt = openAnswer(promptOfMessages([...systemOf(system), ...messages]));
  return asked(MESSAGES_FORM, parsed.data, { prompt, promptMember: "messages" });
};

export const readResponses: ReadRequest = (body, stored) => {
  const parsed = ResponsesBody.safeParse(body);
  if (!parsed.success) return refusal(parsed.error);
  const { instructions, input, previous_response_id: previous, max_output_tokens: most, store } = parsed.data;
  const before = previous === null || previous === undefined ? "" : stored.get(previous);
  if (before === null) {
    return apiError(404, `Response with id '${previous}' not found.`, "previous_response_id");
  }
  const added = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const prompt = openAnswer(before + promptOfMessages([...systemOf(instructions), ...added]));
  const wish = { prompt, promptMember: "input", maxTokens: most };
  return { ...asked(RESPONSES_FORM, parsed.data, wish), isStored: store ?? true };
};

export const isApiError = (read: Asked | ApiError): read is ApiError => "status" in read;

const systemOf = (content: unknown): readonly Message[] =>
  content === null || content === undefined ? [] : [{ role: "system", content }];

type Wish = Pick<Asked, "prompt" | "promptMember"> & { readonly maxTokens?: number | null | undefined };

const asked = (form: AnswerForm, body: z.infer<z.ZodObject<typeof shared>>, wish: Wish): Asked => ({
  form,
  model: body.model,
  prompt: wish.prompt,
  promptMember: wish.promptMember,
  maxTokens: wish.maxTokens ?? body.max_tokens ?? null,
  isEosIgnored: body.ignore_eos ?? false,
  isStream: body.stream ?? false,
  isUsageWanted: body.stream_options?.include_usage ?? false,
  isStored: false,
});

const refusal = (error: z.ZodError): ApiError =>
  apiError(400, z.prettifyError(error), error.issues[0]?.path.join(".") ?? null);
