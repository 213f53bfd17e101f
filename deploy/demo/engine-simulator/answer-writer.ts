/** How an answer reaches the client: whole when it is finished, or as server-sent events while it is written. */
import type { ServerResponse } from "node:http";
import type { Answer } from "./answer-text.ts";
import { type Frame, roleChunk, textChunk, type Usage, usageChunk, wholeAnswer } from "./completion-shape.ts";
import type { Listener, Progress } from "./engine-room.ts";
import { BYTES_PER_TOKEN } from "./prompt.ts";
import { sendJson } from "./send-json.ts";

type Finished = Extract<Progress, { kind: "finished" }>;

export type Reply = {
  readonly response: ServerResponse;
  readonly frame: Frame;
  readonly answer: Answer;
  readonly isUsageWanted: boolean;
};

export const createWholeWriter =
  ({ response, frame, answer }: Reply): Listener =>
  (progress) => {
    // Aborted: nobody is there to read it.
    if (progress.kind !== "finished" || progress.reason === "abort") return;
    sendJson(response, 200, wholeAnswer(frame, answer.text, answer.finishReason, usageOf(progress)));
  };

export const createStreamWriter = ({ response, frame, answer, isUsageWanted }: Reply): Listener => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  let sentTokens = 0;
  const event = (data: string): void => {
    if (!response.destroyed) response.write(`data: ${data}\n\n`);
  };
  // A client that asked for usage finds the field in every chunk, null until the last.
  const chunk = (content: object): void => event(JSON.stringify(isUsageWanted ? { ...content, usage: null } : content));
  const sendUpTo = (tokens: number): void => {
    if (tokens <= sentTokens) return;
    chunk(textChunk(frame, answer.text.slice(sentTokens * BYTES_PER_TOKEN, tokens * BYTES_PER_TOKEN), null));
    sentTokens = tokens;
  };
  const finish = (finished: Finished): void => {
    sendUpTo(finished.outputTokens);
    chunk(textChunk(frame, "", answer.finishReason));
    if (isUsageWanted) event(JSON.stringify(usageChunk(frame, usageOf(finished))));
    event("[DONE]");
    response.end();
  };
  return (progress) => {
    switch (progress.kind) {
      case "prefill-started":
        return;
      case "first-token":
        if (frame.kind === "chat") chunk(roleChunk(frame));
        return sendUpTo(1);
      case "tokens":
        return sendUpTo(progress.outputTokens);
      case "finished":
        return progress.reason === "abort" ? undefined : finish(progress);
    }
  };
};

const usageOf = ({ request, cachedTokens, outputTokens }: Finished): Usage => ({
  promptTokens: request.promptTokens,
  cachedTokens,
  outputTokens,
});
