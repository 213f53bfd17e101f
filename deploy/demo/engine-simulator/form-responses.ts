/** Responses in OpenAI's form: one message of one text. */
import type { AnswerForm, FinishReason, Frame, SentEvent, Usage } from "./answer-form.ts";

export const RESPONSES_FORM: AnswerForm = {
  idPrefix: "resp_",
  whole: (frame, text, finishReason, usage) => finished(frame, text, finishReason, usage),
  stream: (frame) => {
    let sent = 0;
    const at = { item_id: itemIdOf(frame), output_index: 0 };
    const inPart = { ...at, content_index: 0 };
    const event = (type: string, content: object): SentEvent => {
      sent += 1;
      return { event: type, data: { type, sequence_number: sent - 1, ...content } };
    };
    return {
      opening: () => [
        event("response.created", { response: begun(frame) }),
        event("response.in_progress", { response: begun(frame) }),
        event("response.output_item.added", { output_index: 0, item: itemOf(frame, "in_progress", []) }),
        event("response.content_part.added", { ...inPart, part: partOf("") }),
      ],
      delta: (text) => [event("response.output_text.delta", { ...inPart, delta: text, logprobs: [] })],
      closing: (text, finishReason, usage) => {
        const item = itemOf(frame, statusOf(finishReason), [partOf(text)]);
        const whole = finished(frame, text, finishReason, usage);
        return [
          event("response.output_text.done", { ...inPart, text, logprobs: [] }),
          event("response.content_part.done", { ...inPart, part: partOf(text) }),
          event("response.output_item.done", { output_index: 0, item }),
          event(finishReason === "stop" ? "response.completed" : "response.incomplete", { response: whole }),
        ];
      },
    };
  },
};

const statusOf = (finishReason: FinishReason) => (finishReason === "stop" ? "completed" : "incomplete");

const itemIdOf = ({ id }: Frame): string => `msg_${id}`;

const partOf = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const itemOf = (frame: Frame, status: string, content: readonly object[]) => ({
  ...{ id: itemIdOf(frame), type: "message", role: "assistant", status, content },
});

const head = ({ id, created, model }: Frame) => ({
  ...{ id, object: "response", created_at: created, model, error: null },
  ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [], metadata: {} },
});

const begun = (frame: Frame) => ({ ...head(frame), status: "in_progress", output: [], usage: null });

const finished = (frame: Frame, text: string, finishReason: FinishReason, usage: Usage) => ({
  ...{ ...head(frame), status: statusOf(finishReason) },
  incomplete_details: finishReason === "stop" ? null : { reason: "max_output_tokens" },
  output: [itemOf(frame, statusOf(finishReason), [partOf(text)])],
  usage: {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.promptTokens + usage.outputTokens,
  },
});
