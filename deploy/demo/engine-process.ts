/** A region's engine as a process of its own, so that it can really die. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { OperationalError } from "#shared/errors.ts";

export type EngineProcess = {
  /** As a power cut would: nothing is said to anybody. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

const MAIN = fileURLToPath(new URL("engine-simulator/main.ts", import.meta.url));
const START_DEADLINE_MS = 30_000;

/**
 * @param args of the engine simulator's command line
 * @throws {OperationalError} DEMO_ENGINE_FAILED when it does not listen in time; what it said is in the message
 */
export const startEngineProcess = async (args: readonly string[]): Promise<EngineProcess> => {
  // It holds the other end of its standard input: were this process killed, it would end too, and leave its port.
  const child = spawn(process.execPath, [MAIN, "--until-stdin-ends", ...args], { stdio: ["pipe", "pipe", "pipe"] });
  await listening(child);
  return { kill: () => end(child, "SIGKILL"), stop: () => end(child, "SIGTERM") };
};

/** It prints one line when it listens. */
const listening = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let complaints = "";
    const deadline = setTimeout(() => fail(`did not listen within ${START_DEADLINE_MS} ms`), START_DEADLINE_MS);
    const fail = (what: string): void => {
      clearTimeout(deadline);
      child.kill("SIGKILL");
      const said = complaints === "" ? "" : `: ${complaints.trim()}`;
      reject(new OperationalError("DEMO_ENGINE_FAILED", `the engine simulator ${what}${said}`));
    };
    child.stderr?.on("data", (data: Buffer) => {
      complaints = (complaints + data.toString()).slice(-2_000);
    });
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => fail(`ended with ${code}`));
    child.stdout?.once("data", () => {
      clearTimeout(deadline);
      child.removeAllListeners("exit");
      child.stdout?.resume();
      resolve();
    });
  });

const end = async (child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
};
