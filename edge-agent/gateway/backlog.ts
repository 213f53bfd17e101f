/** How long a request that arrives now would wait for its prefill: exact, out of every turn that is in flight at the replica. */

/** One turn that the replica has and has not ended. */
export type InFlight = {
  /** Order of submission at this replica, rising. */
  readonly seq: number;
  readonly submittedAtMs: number;
  /** Expected, of the tokens that the cache does not hold; 0 or more. */
  readonly prefillMs: number;
  /** Expected time from first to last token; null: not known. */
  readonly decodeMs: number | null;
  /** Whether its first token will be seen; null: no header has come yet. A reply in one piece shows none. */
  readonly isStreamed: boolean | null;
  readonly firstTokenAtMs: number | null;
};

export type Lane = {
  /** In order of submission. */
  readonly turns: readonly InFlight[];
  /** When the last first token came; -Infinity: none yet. */
  readonly prefilledAtMs: number;
  /** Of the latest turn that showed its first token; 0: none yet. */
  readonly prefilledSeq: number;
  /** Most turns that the engine runs at once; null: not known, never the reason to wait. */
  readonly slots: number | null;
};

/** @param isSeen every prefill before it showed its end: the time is no estimate */
export type PrefillStart = { readonly atMs: number; readonly isSeen: boolean };

/** First come, first served: whoever is behind a turn that shows a first token has passed, if it cannot show one itself. */
const isWaiting = ({ prefilledSeq }: Lane, turn: InFlight): boolean =>
  turn.firstTokenAtMs === null && (turn.isStreamed === true || turn.seq > prefilledSeq);

/**
 * When each turn's prefill ends, one after another. A stream that is late is taken to need as long again as it is late, so
 * that an engine which hangs looks worse and worse, and not idle.
 *
 * @returns in the order of the turns; for those that have passed, when they did as far as known
 */
export const prefillEnds = (lane: Lane, nowMs: number): readonly number[] => {
  let freeAtMs = lane.prefilledAtMs;
  return lane.turns.map((turn) => {
    if (!isWaiting(lane, turn)) return turn.firstTokenAtMs ?? lane.prefilledAtMs;
    const dueAtMs = Math.max(turn.submittedAtMs, freeAtMs) + turn.prefillMs;
    const isLate = turn.isStreamed === true && dueAtMs < nowMs;
    freeAtMs = isLate ? nowMs + (nowMs - dueAtMs) : dueAtMs;
    return freeAtMs;
  });
};

/** When the replica began to prefill a turn of this lane whose first token comes now, as far as those before it show. */
export const prefillStart = (lane: Lane, turn: InFlight, nowMs: number): PrefillStart => {
  const before = { ...lane, turns: lane.turns.filter(({ seq }) => seq < turn.seq) };
  const startMs = prefillEnds(before, nowMs).reduce(
    (latest, endMs) => Math.max(latest, endMs),
    Math.max(turn.submittedAtMs, lane.prefilledAtMs),
  );
  return { atMs: Math.min(startMs, nowMs), isSeen: !before.turns.some((one) => isWaiting(lane, one)) };
};

/** @returns milliseconds, 0 where the next request would start at once */
export const backlogMs = (lane: Lane, nowMs: number): number => {
  const ends = prefillEnds(lane, nowMs);
  const prefillWaitMs = ends.reduce((latest, endMs) => Math.max(latest, endMs - nowMs), 0);
  return Math.max(prefillWaitMs, slotWaitMs(lane, ends, nowMs));
};

/** Until so many turns have ended that there is a slot for one more. Where a decode is not known, its prefill's end: no more is sure. */
const slotWaitMs = ({ turns, slots }: Lane, ends: readonly number[], nowMs: number): number => {
  if (slots === null || turns.length < slots) return 0;
  const leaves = turns.map(({ decodeMs }, at) => (ends[at] ?? nowMs) + (decodeMs ?? 0)).sort((a, b) => a - b);
  return Math.max(0, (leaves[turns.length - slots] ?? nowMs) - nowMs);
};
