/** How far a simulation is: a line that is written over on a terminal, else one every ten seconds. */
import type { CliIo } from "./io.ts";
import { age } from "./quantity.ts";

export type ProgressLine = {
  /** @param done of all runs, in runs: 3.5 is three and a half */
  readonly show: (done: number, text: string) => void;
  /** Takes the line away. */
  readonly clear: () => void;
};

const TERMINAL_EVERY_MS = 100;
const LOG_EVERY_MS = 10_000;
const WIDTH = 78;

export const createProgressLine = (
  io: Pick<CliIo, "tell" | "isInteractive" | "epochMs">,
  runs: number,
): ProgressLine => {
  const everyMs = io.isInteractive ? TERMINAL_EVERY_MS : LOG_EVERY_MS;
  const startedAtMs = io.epochMs();
  let shownAtMs = startedAtMs;
  let isShown = false;
  return {
    show: (done, text) => {
      const nowMs = io.epochMs();
      if (nowMs - shownAtMs < everyMs) return;
      shownAtMs = nowMs;
      const fraction = done / Math.max(1, runs);
      // Before a fiftieth is done it would be a guess.
      const leftMs = fraction < 0.02 ? null : ((nowMs - startedAtMs) * (1 - fraction)) / fraction;
      const left = leftMs === null ? "" : `, ${age(leftMs)} left`;
      const line = `${Math.floor(fraction * 100)} % of ${runs} runs${left}: ${text}`;
      isShown = io.isInteractive;
      io.tell(io.isInteractive ? `\r${line.slice(0, WIDTH).padEnd(WIDTH)}` : `${line}\n`);
    },
    clear: () => {
      if (isShown) io.tell(`\r${" ".repeat(WIDTH)}\r`);
      isShown = false;
    },
  };
};
