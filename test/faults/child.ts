/** A program of this repository as a process of its own, whose log is heard line by line, and which may die. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A line of its log. */
export type Said = { readonly event: string; readonly [field: string]: unknown };

export type Child = {
  /** Resolves when it said so; rejects with its last words when it ended first. */
  readonly heard: (event: string) => Promise<void>;
  readonly hasEnded: () => boolean;
  /** Resolves when it has ended. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
};

const MOST_LINES = 30;
/** Many start at once on few processors: what one has compiled when it ends in peace, the next need not. */
const COMPILE_CACHE = join(import.meta.dirname, "../../node_modules/.cache/faults");

/** Whatever ends the test ends what it started. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** @param words what follows `node` */
export const startChild = (words: readonly string[], onSaid: (said: Said) => void): Child => {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], env });
  const last: string[] = [];
  const waiting = new Map<string, () => void>();
  let hasEnded = false;
  const keep = (line: string): void => {
    last.push(line);
    if (last.length > MOST_LINES) last.shift();
  };
  createInterface({ input: child.stderr }).on("line", keep);
  createInterface({ input: child.stdout }).on("line", (line) => {
    keep(line);
    const said = JSON.parse(line) as Said;
    waiting.get(said.event)?.();
    onSaid(said);
  });
  running.add(child);
  const ended = once(child, "exit").then(() => {
    hasEnded = true;
    running.delete(child);
  });
  return {
    heard: async (event) => {
      const said = new Promise<boolean>((resolve) => waiting.set(event, () => resolve(true)));
      if (await Promise.race([said, ended.then(() => false)])) return;
      throw new Error(`${words.join(" ")} ended before ${event}:\n${last.join("\n")}`);
    },
    hasEnded: () => hasEnded,
    kill: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
};
