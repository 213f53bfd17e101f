/** What recorded decisions came to, before anything is changed: where turns went, how often they moved, what was promised. */

import { isRecord, type TraceFile } from "../traces/trace-file.ts";
import { rowsOfDecisions } from "./decision-rows.ts";

export type RecordedOutcome = {
  readonly turns: number;
  /** Turns by verdict and by chosen region, most first; unserved ones have no region. */
  readonly verdicts: readonly (readonly [verdict: string, turns: number])[];
  readonly regions: readonly (readonly [region: string, turns: number])[];
  /** Of the chosen region, mean over the turns that have one; null: none has. What came true the log does not know. */
  readonly predictedTtftMs: number | null;
};

/** @throws {OperationalError} GTM_TRACE_INVALID */
export const recordedOutcome = (file: TraceFile): RecordedOutcome => {
  const verdicts = new Map<string, number>();
  const regions = new Map<string, number>();
  let turns = 0;
  let promised = 0;
  let promisedMs = 0;
  for (const { value } of rowsOfDecisions(file)) {
    const { kind, channel, verdict, considered } = value;
    if (kind !== "turn" || channel !== "http" || !isRecord(verdict)) continue;
    turns += 1;
    count(verdicts, String(verdict["kind"]));
    if (typeof verdict["region"] !== "string") continue;
    count(regions, verdict["region"]);
    const ttftMs = Array.isArray(considered) ? predictedOf(considered, verdict["region"]) : null;
    if (ttftMs === null) continue;
    promised += 1;
    promisedMs += ttftMs;
  }
  return {
    turns,
    verdicts: mostFirst(verdicts),
    regions: mostFirst(regions),
    predictedTtftMs: promised === 0 ? null : promisedMs / promised,
  };
};

const predictedOf = (considered: readonly unknown[], region: string): number | null => {
  const chosen = considered.find((one) => isRecord(one) && one["region"] === region);
  const cost = isRecord(chosen) ? chosen["cost"] : null;
  const ttftMs = isRecord(cost) ? cost["predictedTtftMs"] : null;
  return typeof ttftMs === "number" ? ttftMs : null;
};

const count = (counts: Map<string, number>, word: string): void => {
  counts.set(word, (counts.get(word) ?? 0) + 1);
};

const mostFirst = (counts: ReadonlyMap<string, number>) =>
  [...counts].sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1));
