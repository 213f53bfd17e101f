/** Where a command runs: on this host, or on one of a closed network. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Ended } from "./program.ts";

export type Place = {
  /** Its process is the command itself, so that signals reach it. */
  readonly spawn: (command: readonly string[], options?: SpawnOptions) => ChildProcess;
  /** The same run to its end. */
  readonly run: (command: readonly string[], options?: SpawnOptions) => Promise<Ended>;
};

/** @param lead the words that come before a command and lead there */
export const placeBehind = (lead: readonly string[]): Place => {
  const start: Place["spawn"] = (command, options = {}) => {
    const [program = "", ...words] = [...lead, ...command];
    return spawn(program, words, options);
  };
  return {
    spawn: start,
    run: async (command, options = {}) => {
      const child = start(command, { ...options, stdio: ["ignore", "pipe", "pipe"] });
      if (child.stdout === null || child.stderr === null) throw new Error("a process without pipes");
      const closed = once(child, "close");
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [exitCode] = (await closed) as [number | null];
      return { exitCode, stdout, stderr };
    },
  };
};

export const here: Place = placeBehind([]);
