/** A program of this repository run to its end, as the command line of an image or a unit names it. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

/**
 * @param words what follows `node`
 * @param env what is added to this process's environment
 */
export const runNode = async (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, stdout, stderr] = await Promise.all([exitCode, text(child.stdout), text(child.stderr)]);
  return { exitCode: code, stdout, stderr };
};
