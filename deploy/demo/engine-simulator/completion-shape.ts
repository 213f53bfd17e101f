/** The JSON of answers, whole and in chunks, for chat and text completions. */
import type { Asked } from "./completion-request.ts";

export type Frame = {
  readonly kind: Asked["kind"];
  readonly id: string;
  readonly created: number;
  readonly model: string;
};
export type Usage = { readonly promptTokens: number; readonly cachedTokens: number; readonly outputTokens: number };
type FinishReason = "stop" | "length" | null;

export const wholeAnswer = (frame: Frame, text: string, finishReason: FinishReason, usage: Usage) => ({
  ...head(frame, frame.kind === "chat" ? "chat.completion" : "text_completion"),
  choices: [
    {
      index: 0,
      ...(frame.kind === "chat" ? { message: { role: "assistant", content: text, refusal: null } } : { text }),
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  usage: usageOf(usage),
});

/** The first chunk of a chat, which only says who speaks. */
export const roleChunk = (frame: Frame) => chatChunk(frame, { role: "assistant", content: "" }, null);

export const textChunk = (frame: Frame, text: string, finishReason: FinishReason) =>
  frame.kind === "chat"
    ? chatChunk(frame, text === "" ? {} : { content: text }, finishReason)
    : {
        ...head(frame, "text_completion"),
        choices: [{ index: 0, text, logprobs: null, finish_reason: finishReason }],
      };

/** The last chunk, for clients that asked for it. */
export const usageChunk = (frame: Frame, usage: Usage) => ({
  ...head(frame, frame.kind === "chat" ? "chat.completion.chunk" : "text_completion"),
  choices: [],
  usage: usageOf(usage),
});

const chatChunk = (frame: Frame, delta: Readonly<Record<string, string>>, finishReason: FinishReason) => ({
  ...head(frame, "chat.completion.chunk"),
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
});

const head = ({ id, created, model }: Frame, object: string) => ({ id, object, created, model });

const usageOf = ({ promptTokens, cachedTokens, outputTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: outputTokens,
  total_tokens: promptTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
});
