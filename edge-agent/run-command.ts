/** One command with a hard deadline and a limit on output; whatever goes wrong is a value. */
import { execFile } from "node:child_process";
import type { CommandOutput } from "./ports.ts";

export type RunCommand = (command: string, words: readonly string[], signal: AbortSignal) => Promise<CommandOutput>;

const MOST_BYTES = 1_048_576;

/** @param deadlineMs after which the command is killed */
export const createRunCommand =
  (deadlineMs: number): RunCommand =>
  (command, words, signal) =>
    new Promise((resolve) => {
      const options = { timeout: deadlineMs, killSignal: "SIGKILL", maxBuffer: MOST_BYTES, signal } as const;
      execFile(command, [...words], options, (error, stdout) => {
        if (error === null) resolve({ kind: "ended", exitCode: 0, text: stdout });
        else if (typeof error.code === "number") resolve({ kind: "ended", exitCode: error.code, text: stdout });
        else resolve({ kind: "failed", code: codeOf(error) });
      });
    });

const codeOf = (error: Error & { readonly code?: string | number | null; readonly killed?: boolean }) => {
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "too-large";
  return error.killed === true || error.code === "ABORT_ERR" ? "timed-out" : "not-runnable";
};
