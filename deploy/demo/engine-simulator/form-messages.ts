/** Messages in Anthropic's form, as vLLM serves them too. Its `input_tokens` leave out what was read from the cache. */
import type { AnswerForm, FinishReason, SentEvent, Usage } from "./answer-form.ts";

export const MESSAGES_FORM: AnswerForm = {
  idPrefix: "msg_",
  whole: ({ id, model }, text, finishReason, usage) => ({
    ...{ id, type: "message", role: "assistant", model },
    content: [{ type: "text", text }],
    ...{ stop_reason: STOP_REASONS[finishReason], stop_sequence: null },
    usage: usageOf(usage),
  }),
  stream: ({ id, model }) => ({
    opening: (usage) => [
      said("message_start", {
        message: {
          ...{ id, type: "message", role: "assistant", model, content: [] },
          ...{ stop_reason: null, stop_sequence: null },
          usage: usageOf(usage),
        },
      }),
      said("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ],
    delta: (text) => [said("content_block_delta", { index: 0, delta: { type: "text_delta", text } })],
    closing: (_text, finishReason, usage) => [
      said("content_block_stop", { index: 0 }),
      said("message_delta", {
        delta: { stop_reason: STOP_REASONS[finishReason], stop_sequence: null },
        usage: usageOf(usage),
      }),
      said("message_stop", {}),
    ],
  }),
};

const STOP_REASONS: Readonly<Record<FinishReason, string>> = { stop: "end_turn", length: "max_tokens" };

const said = (type: string, content: object): SentEvent => ({ event: type, data: { type, ...content } });

const usageOf = ({ promptTokens, cachedTokens, outputTokens }: Usage) => ({
  input_tokens: promptTokens - cachedTokens,
  cache_read_input_tokens: cachedTokens,
  cache_creation_input_tokens: 0,
  output_tokens: outputTokens,
});
