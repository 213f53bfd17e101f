/** Chat and text completions in OpenAI's form. */
import type { AnswerForm, FinishReason, Frame, SentEvent, Usage } from "./answer-form.ts";

type Kind = "chat" | "text";

const completion = (kind: Kind): AnswerForm => ({
  idPrefix: kind === "chat" ? "chatcmpl-" : "cmpl-",
  whole: (frame, text, finishReason, usage) => ({
    ...head(frame, kind === "chat" ? "chat.completion" : "text_completion"),
    choices: [
      {
        index: 0,
        ...(kind === "chat" ? { message: { role: "assistant", content: text, refusal: null } } : { text }),
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: usageOf(usage),
  }),
  stream: (frame, isUsageWanted) => {
    // A client that asked for usage finds the field in every chunk, null until the last.
    const chunk = (content: object): SentEvent => said(isUsageWanted ? { ...content, usage: null } : content);
    return {
      // Only says who speaks.
      opening: () => (kind === "chat" ? [chunk(chatChunk(frame, { role: "assistant", content: "" }, null))] : []),
      delta: (text) => [chunk(textChunk(kind, frame, text, null))],
      closing: (_text, finishReason, usage) => [
        chunk(textChunk(kind, frame, "", finishReason)),
        ...(isUsageWanted ? [said(usageChunk(kind, frame, usage))] : []),
        said("[DONE]"),
      ],
    };
  },
});

export const CHAT_FORM = completion("chat");
export const TEXT_FORM = completion("text");

const said = (data: object | string): SentEvent => ({ event: null, data });

const textChunk = (kind: Kind, frame: Frame, text: string, finishReason: FinishReason | null) =>
  kind === "chat"
    ? chatChunk(frame, text === "" ? {} : { content: text }, finishReason)
    : {
        ...head(frame, "text_completion"),
        choices: [{ index: 0, text, logprobs: null, finish_reason: finishReason }],
      };

/** The last chunk, for clients that asked for it. */
const usageChunk = (kind: Kind, frame: Frame, usage: Usage) => ({
  ...head(frame, kind === "chat" ? "chat.completion.chunk" : "text_completion"),
  choices: [],
  usage: usageOf(usage),
});

const chatChunk = (frame: Frame, delta: Readonly<Record<string, string>>, finishReason: FinishReason | null) => ({
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
