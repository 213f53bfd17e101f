/** How an answer reaches the client: whole when it is finished, or as server-sent events while it is written. */
import type { ServerResponse } from "node:http";
import type { AnswerForm, Frame, SentEvent, Usage } from "./answer-form.ts";
import type { Answer } from "./answer-text.ts";
import type { Listener, Progress } from "./engine-room.ts";
import { BYTES_PER_TOKEN } from "./prompt.ts";
import { sendJson } from "./send-json.ts";

type Finished = Extract<Progress, { kind: "finished" }>;

export type Reply = {
  readonly response: ServerResponse;
  readonly form: AnswerForm;
  readonly frame: Frame;
  readonly answer: Answer;
  readonly isUsageWanted: boolean;
};

export const createWholeWriter =
  ({ response, form, frame, answer }: Reply): Listener =>
  (progress) => {
    // Aborted: nobody is there to read it.
    if (progress.kind !== "finished" || progress.reason === "abort") return;
    sendJson(response, 200, form.whole(frame, answer.text, answer.finishReason, usageOf(progress)));
  };

export const createStreamWriter = ({ response, form, frame, answer, isUsageWanted }: Reply): Listener => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  const stream = form.stream(frame, isUsageWanted);
  let sentTokens = 0;
  const send = (events: readonly SentEvent[]): void => {
    if (!response.destroyed) for (const event of events) response.write(textOf(event));
  };
  const sendUpTo = (tokens: number): void => {
    if (tokens <= sentTokens) return;
    send(stream.delta(answer.text.slice(sentTokens * BYTES_PER_TOKEN, tokens * BYTES_PER_TOKEN)));
    sentTokens = tokens;
  };
  const finish = (finished: Finished): void => {
    sendUpTo(finished.outputTokens);
    send(stream.closing(answer.text, answer.finishReason, usageOf(finished)));
    response.end();
  };
  return (progress) => {
    switch (progress.kind) {
      case "prefill-started":
        return;
      case "first-token":
        send(stream.opening(usageOf({ ...progress, outputTokens: 0 })));
        return sendUpTo(1);
      case "tokens":
        return sendUpTo(progress.outputTokens);
      case "finished":
        return progress.reason === "abort" ? undefined : finish(progress);
    }
  };
};

const textOf = ({ event, data }: SentEvent): string =>
  `${event === null ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

const usageOf = ({
  request,
  cachedTokens,
  outputTokens,
}: Pick<Finished, "request" | "cachedTokens" | "outputTokens">): Usage => ({
  promptTokens: request.promptTokens,
  cachedTokens,
  outputTokens,
});
