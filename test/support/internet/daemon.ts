/** A server that is not ours, on a host of a closed network: started with its files, awaited until it answers, ended. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Host } from "./network.ts";

export type Daemon = AsyncDisposable;

export type DaemonWish = {
  readonly host: Host;
  /** By name; `FOLDER` in them and in the command becomes the path of where they lie. */
  readonly files: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** What is asked on the same host until it ends with 0 and says what is expected. */
  readonly ready: { readonly ask: readonly string[]; readonly says: RegExp };
};

/** None outlives the test that started it, however that one ends. */
const killers = new Set<() => void>();
process.once("exit", () => {
  for (const kill of killers) kill();
});

/** @throws {Error} with what it said, when it ends before it answers */
export const startDaemon = async ({ host, files, command, ready }: DaemonWish): Promise<Daemon> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-daemon-"));
  const inFolder = (text: string): string => text.replaceAll("FOLDER", folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), inFolder(text));
  const child = host.spawn(command.map(inFolder), { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      said = `${said}${data.toString()}`.slice(-4_000);
    });
  }
  const kill = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  killers.add(kill);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    killers.delete(kill);
    kill();
    await ended;
  };
  const isReady = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended: ${said}`);
    const { exitCode, stdout } = await host.run(ready.ask);
    return exitCode === 0 && ready.says.test(stdout);
  };
  try {
    // No deadline but the test's own: on a busy machine a program needs many seconds until it has read its sources.
    while (!(await isReady())) await pause(50);
  } catch (fault) {
    await stop();
    throw fault;
  }
  return { [Symbol.asyncDispose]: stop };
};

/** A question by dig, once and briefly. */
export const digWords = (server: string, ...words: readonly string[]): readonly string[] => [
  ...["dig", `@${server}`, "+tries=1", "+time=1"],
  ...words,
];
