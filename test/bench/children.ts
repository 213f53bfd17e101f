/** Processes that a benchmark forks: each answers a message with a message. */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export const forked = (file: string, ...args: string[]): ChildProcess & Disposable => {
  const child = fork(join(import.meta.dirname, file), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  return Object.assign(child, { [Symbol.dispose]: () => child.kill() });
};

/** Processors of what is measured, and of the load that measures it. */
export const CORES = { subject: 0, load: 1 } as const;

/**
 * Keeps a process on one processor, so that the threads that help it (they collect garbage, they compile) take their time from it and
 * not from who measures it. By taskset of util-linux; where there is none, or one processor, it stays as it is.
 */
export const keptOn = <Child extends ChildProcess>(core: number, child: Child): Child => {
  if (availableParallelism() > core) spawnSync("taskset", ["-a", "-p", "-c", `${core}`, `${child.pid}`]);
  return child;
};

/** @throws {Error} when the child ends instead */
export const ask = async <Reply>(child: ChildProcess, question: object): Promise<Reply> => {
  const over = new AbortController();
  const ended = once(child, "exit", { signal: over.signal }).then(([code]) => {
    throw new Error(`a child of the benchmark ended with ${code}`);
  });
  const answered = once(child, "message", { signal: over.signal });
  child.send(question);
  try {
    const [reply] = await Promise.race([answered, ended]);
    return reply;
  } finally {
    over.abort();
    await Promise.allSettled([answered, ended]);
  }
};
