/** Watches one attempt pass by: what it did to the replica, to the ledger, and what it teaches. */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#shared/clock.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Counter } from "#shared/metrics.ts";
import type { Passage, Passed } from "./passage.ts";
import type { TurnOutcome, Watch } from "./ports.ts";
import { createUsageReader, type Usage, type UsageReader } from "./usage.ts";

/** An attempt that has ended. */
export type Ended = {
  readonly outcome: MeasuredTurn["outcome"];
  readonly usage: Usage;
  readonly passed: Passed;
  readonly atMs: number;
};

export type WatchOptions = {
  readonly passage: Passage;
  readonly clock: Clock;
  /** Replies that pass unread, by why. */
  readonly unread: Counter;
  /** A stored response is about to be known to its client: its next turn may come at once. Asked once. */
  readonly onResponse: (id: string) => Promise<void> | null;
  readonly onEnd: (ended: Ended) => void;
};

const NO_USAGE: Usage = {
  promptTokens: null,
  cachedTokens: null,
  completionTokens: null,
  isCompletionEstimated: false,
  firstContentAtMs: null,
  responseId: null,
  hasError: false,
};

/** Compressed replies and those of other types pass unread. */
export const watchTurn = ({ passage, clock, unread, onResponse, onEnd }: WatchOptions): Watch => {
  let status = 0;
  let reader: UsageReader | null = null;
  let isOver = false;
  let isCompleted = false;

  return {
    head: (code, headers) => {
      status = code;
      const form = formOf(headers);
      passage.began(form === "events");
      if (form === "events" || form === "json") reader = createUsageReader(form === "events", passage.firstToken);
      else unread.inc({ reason: form });
    },
    chunk: (octets) => reader?.push(octets, clock.monotonicMs()),
    before: () => {
      const response = isCompleted || status >= 300 ? null : (reader?.completed() ?? null);
      if (response === null) return null;
      isCompleted = true;
      return onResponse(response);
    },
    end: (said) => {
      if (isOver) return;
      isOver = true;
      const usage = reader?.end() ?? NO_USAGE;
      const isGood = status >= 200 && status < 300;
      const outcome = outcomeOf(said, status, usage);
      const isKept = isGood && (outcome === "served" || usage.firstContentAtMs !== null);
      const atMs = clock.monotonicMs();
      // Of an engine that counts no tokens.
      if (!isCompleted && outcome === "served" && usage.responseId !== null) void onResponse(usage.responseId);
      onEnd({ outcome, usage, passed: passage.end(usage, isKept, atMs), atMs });
    },
  };
};

const formOf = (headers: IncomingHttpHeaders): "events" | "json" | "encoded" | "other" => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") return "encoded";
  const type = headers["content-type"]?.trim().toLowerCase() ?? "";
  if (type.startsWith("text/event-stream")) return "events";
  return /^application\/(?:[\w.+-]+\+)?json\b/.test(type) ? "json" : "other";
};

/** An answer that came whole may still be a no: of the engine (4xx), or because it broke. */
const outcomeOf = (said: TurnOutcome, status: number, { hasError }: Usage): TurnOutcome => {
  if (said !== "served") return said;
  if (status >= 500 || (hasError && status < 400)) return "failed";
  return status >= 400 ? "refused" : "served";
};
