/** What engines add to the usage in their answers, each in its own words. */
import type { AnswerForm, SentEvent, Usage } from "./answer-form.ts";
import type { Flavour } from "./flavour.ts";

/** The form as this kind of engine writes it. */
export const inFlavour = (form: AnswerForm, flavour: Flavour): AnswerForm => {
  if (flavour === "vllm") return form;
  return {
    ...form,
    whole: (frame, text, finishReason, usage) => withMore(form.whole(frame, text, finishReason, usage), usage, flavour),
    stream: (frame, isUsageWanted) => {
      const stream = form.stream(frame, isUsageWanted);
      return {
        ...stream,
        closing: (text, finishReason, usage) =>
          stream.closing(text, finishReason, usage).map((event) => closingEvent(event, usage, flavour)),
      };
    },
  };
};

const closingEvent = (event: SentEvent, usage: Usage, flavour: Flavour): SentEvent =>
  typeof event.data === "string" || !holdsUsage(event.data)
    ? event
    : { ...event, data: withMore(event.data, usage, flavour) };

const holdsUsage = (data: object): data is { readonly usage: object } =>
  "usage" in data && typeof data.usage === "object" && data.usage !== null;

const withMore = (answer: object, { promptTokens, cachedTokens, outputTokens }: Usage, flavour: Flavour): object => {
  if (flavour === "llama-cpp") {
    return {
      ...answer,
      timings: { cache_n: cachedTokens, prompt_n: promptTokens - cachedTokens, predicted_n: outputTokens },
    };
  }
  return holdsUsage(answer) ? { ...answer, usage: { ...answer.usage, reasoning_tokens: 0 } } : answer;
};
