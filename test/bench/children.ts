/** Processes that a benchmark forks: each answers a message with a message. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export const forked = (file: string, ...args: string[]): ChildProcess & Disposable => {
  const child = fork(join(import.meta.dirname, file), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  return Object.assign(child, { [Symbol.dispose]: () => child.kill() });
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
