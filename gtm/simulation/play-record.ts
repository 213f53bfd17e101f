/** A turn and its attempts while it is played, and what is recorded of it when its first token comes. */
import type { Asker } from "./play-clients.ts";
import type { Asked, Choice } from "./rival.ts";
import type { ServingEvent } from "./serving/request.ts";
import type { PlannedTurn } from "./traffic.ts";
import type { TurnRecord } from "./turn-record.ts";

export type FirstTokenRecord = Omit<TurnRecord, "lastTokenAtMs">;

/** A turn, whatever became of its attempts. */
export type Asking = {
  readonly asker: Asker;
  readonly planned: PlannedTurn;
  readonly askedAtMs: number;
  readonly previous: number | null;
  failedAttempts: number;
};
/** An attempt that is on its way, or being served. */
export type Sent = {
  readonly asking: Asking;
  readonly asked: Asked;
  readonly choice: Choice;
  readonly rttMs: number;
  record: FirstTokenRecord | null;
};

export const firstTokenRecordOf = (
  { asking, choice, rttMs }: Sent,
  replica: number,
  event: Extract<ServingEvent, { kind: "first-token" }>,
  nearest: number,
): FirstTokenRecord => {
  const { conversation, turn, promptTokens, outputTokens } = asking.planned;
  return {
    conversation,
    turn,
    region: choice.region,
    replica,
    nearest,
    previous: asking.previous,
    promptTokens,
    outputTokens,
    cachedTokens: event.cachedTokens,
    askedAtMs: asking.askedAtMs,
    firstTokenAtMs: event.atMs + rttMs / 2,
    queuedMs: event.startedAtMs - event.submittedAtMs,
    prefillMs: event.atMs - event.startedAtMs,
    failedAttempts: asking.failedAttempts,
    predicted: choice.prediction,
    verdict: choice.verdict,
  };
};
