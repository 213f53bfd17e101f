/** A program of this repository run to its end, as the command line of an image or a unit names it. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

export type StartedNode = AsyncDisposable & {
  readonly ended: Promise<Ended>;
  /** @throws {Error} with all it said, when it ends without having said it on its standard output */
  readonly says: (what: RegExp) => Promise<void>;
};

/**
 * Disposed of, it is killed.
 *
 * @param words what follows `node`
 * @param env what is added to this process's environment
 */
export const startNode = (words: readonly string[], env: Readonly<Record<string, string>> = {}): StartedNode => {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  let said = "";
  child.stdout.on("data", (data: Buffer) => {
    said += data.toString();
  });
  let complained = "";
  child.stderr.on("data", (data: Buffer) => {
    complained += data.toString();
  });
  const ended = Promise.all([exitCode, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({
    exitCode: code,
    ...{ stdout, stderr },
  }));
  return {
    ended,
    says: async (what) => {
      const isEnd = ended.then(() => true);
      while (!what.test(said)) {
        const heard = new Promise<boolean>((resolve) => child.stdout.once("data", () => resolve(false)));
        if (await Promise.race([heard, isEnd]))
          throw new Error(`it ended and never said ${what}:\n${said}\n${complained}`);
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

/** @see startNode */
export const runNode = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  startNode(words, env).ended;
