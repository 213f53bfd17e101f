/** A thread's log lines, written by the main thread: one writer, one order. */
import type { Logger } from "#shared/logger.ts";
import type { LogLine } from "./messages.ts";

export type RelayedLog = Logger & { readonly take: () => readonly LogLine[] };

/** Between two batches; of more only how many is told. */
const MOST_LINES = 1_000;

/** @param onDropped a line was too many */
export const createRelayedLog = (onDropped: () => void): RelayedLog => {
  let lines: LogLine[] = [];
  const write =
    (level: LogLine[0]): Logger["info"] =>
    (event, fields = {}) => {
      if (lines.length < MOST_LINES) lines.push([level, event, fields]);
      else onDropped();
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    take: () => {
      const taken = lines;
      lines = [];
      return taken;
    },
  };
};
