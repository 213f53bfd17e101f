/** The form that an answer takes in one of the APIs an engine speaks: whole, and as server-sent events. */

export type Frame = {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly model: string;
};
export type Usage = { readonly promptTokens: number; readonly cachedTokens: number; readonly outputTokens: number };
export type FinishReason = "stop" | "length";

export type SentEvent = {
  /** null: the line is left out, as OpenAI's completions do. */
  readonly event: string | null;
  /** Sent as JSON; a text as it is. */
  readonly data: object | string;
};

export type AnswerForm = {
  /** What ids begin with. */
  readonly idPrefix: string;
  readonly whole: (frame: Frame, text: string, finishReason: FinishReason, usage: Usage) => object;
  /** Makes the events of one stream, which they are called for in this order: opening, delta any number of times, closing. */
  readonly stream: (frame: Frame, isUsageWanted: boolean) => StreamForm;
};

export type StreamForm = {
  /** Before the first token; `outputTokens` is 0. */
  readonly opening: (usage: Usage) => readonly SentEvent[];
  readonly delta: (text: string) => readonly SentEvent[];
  /** @param text the whole answer */
  readonly closing: (text: string, finishReason: FinishReason, usage: Usage) => readonly SentEvent[];
};
