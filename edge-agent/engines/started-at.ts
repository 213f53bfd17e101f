/** When a process started, as a page tells it. */
import type { Page } from "../exposition.ts";
import type { Sample } from "../exposition-line.ts";
import type { StartedAt } from "./engine.ts";

/** Epoch seconds of 2001 and of 5138: anything else is no time. */
const EARLIEST_START = 1e9;
const LATEST_START = 1e11;

/** Of the process that writes the page. Multi-process servers do not have it. */
export const PROCESS_START = "process_start_time_seconds";

export const processStartOf = (page: Page): StartedAt | null =>
  startOf(PROCESS_START, page.samples.get(PROCESS_START) ?? []);

/** @returns null where several series say something, or what one says is no time */
export const startOf = (source: string, samples: readonly Sample[]): StartedAt | null => {
  const seconds = samples.length === 1 ? samples[0]?.value : undefined;
  if (seconds === undefined || !(seconds > EARLIEST_START && seconds < LATEST_START)) return null;
  return { source, atMs: Math.round(seconds * 1_000) };
};
