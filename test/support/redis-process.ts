/** One redis-server process: it never outlives the test that started it, however that one ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

export type RedisProcess = {
  readonly pid: number;
  readonly hasEnded: () => boolean;
  readonly kill: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM") => void;
  /** Kills it, unless it ended by itself. */
  readonly end: () => Promise<void>;
};

/**
 * @param folder its working directory, where its log goes; removed with it, should this process be killed
 * @param args of redis-server
 */
export const startRedisProcess = async (folder: string, args: readonly string[]): Promise<RedisProcess> => {
  const log = openSync(join(folder, "log"), "a");
  const child = spawn("redis-server", args, { cwd: folder, stdio: ["ignore", log, log] });
  closeSync(log);
  await once(child, "spawn");
  const pid = Number(child.pid);
  let hasEnded = false;
  const guard = guardOf(pid, folder);
  const ended = once(child, "exit").then(() => {
    hasEnded = true;
    // The number may be another process's from now on.
    guard.kill("SIGKILL");
  });
  // A test that forgets one must not hang: it ends with the process.
  child.unref();
  return {
    pid,
    hasEnded: () => hasEnded,
    kill: (signal) => {
      child.kill(signal);
    },
    end: async () => {
      child.kill("SIGKILL");
      child.ref();
      await ended;
    },
  };
};

/** Waits on a pipe that closes when this process ends, by whatever signal. In a session of its own, so that Ctrl-C leaves it. */
const guardOf = (pid: number, folder: string): ChildProcess => {
  const script = 'read -r _; kill -9 "$1"; rm -rf "$2"';
  const guard = spawn("sh", ["-c", script, "sh", String(pid), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return guard;
};

/** The end of what it said, for a test that fails. */
export const lastWords = (folder: string): string => readFileSync(join(folder, "log"), "utf8").slice(-2_000);
