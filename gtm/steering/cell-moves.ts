/**
 * When a cell may leave its region for a cheaper one. What a cell answers moves all of its clients, which the queues show
 * only a minute later; if all cells could follow a queue at once, they would all leave, find the next queue, and all return.
 * So each has its own minutes, and between them only what is worth it moves: docs/dns-stability.md has the measurement.
 */
import { hash32 } from "#gtm/domain/hash.ts";
import type { MoveDemand } from "./persistence.ts";

type Turns = {
  /** How often a cell's turn comes. */
  readonly everyMs: number;
  /** What a move must save in it, beside the margin. */
  readonly savingMs: number;
};

/** How long a turn lasts: longer than the TTL, or a cell that is seldom asked misses it. */
const TURN_MS = 60_000;
/**
 * In steady state a cell moves once an hour; out of a queue that a fifteenth of the cells may leave each minute, and out of a heavy
 * one a fifth. Turns for the margin each half hour, and for 5 s each five minutes, let one cell move four times (seven seeds tried).
 */
const TURNS: readonly Turns[] = [
  { everyMs: 3_600_000, savingMs: 0 },
  { everyMs: 900_000, savingMs: 5_000 },
  { everyMs: 300_000, savingMs: 15_000 },
];
/** A queue this long is left whenever it is seen. */
const AT_ONCE_MS = 60_000;

/**
 * @param nowMs of the world, by the wall clock: instances whose clocks agree to some seconds let a cell go in the same minute, so
 * that they go on answering alike
 */
export const cellDemand = (cellKey: string, nowMs: number): MoveDemand => {
  const share = hash32(cellKey) / 0x1_0000_0000;
  const open = TURNS.filter(({ everyMs }) => (nowMs + share * everyMs) % everyMs < TURN_MS);
  const savingMs = Math.min(AT_ONCE_MS, ...open.map((turn) => turn.savingMs));
  return { savingMs, isForAnHour: savingMs === 0 };
};
