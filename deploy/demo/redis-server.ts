/** A redis-server of the demo's own, where nothing else listens: it may be killed, and ends with the demo, however that ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OperationalError } from "#shared/errors.ts";
import type { RedisAddress } from "#shared/store-url.ts";

export type RedisServer = {
  /** As a power cut would. */
  readonly kill: () => Promise<void>;
  /** After `kill`: it is empty. @throws {OperationalError} as `startRedisServer` */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type SingleAddress = Extract<RedisAddress, { readonly kind: "single" }>;

const START_DEADLINE_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** What Redis has without being told. */
const USUAL_DATABASES = 16;

/** @throws {OperationalError} DEMO_REDIS_UNUSABLE when there is no redis-server, or it does not listen in time */
export const startRedisServer = async (address: SingleAddress): Promise<RedisServer> => {
  const folder = mkdtempSync(join(tmpdir(), "llm-gtm-demo-redis-"));
  let running: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const child = running;
    running = null;
    if (child === null || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  const start = async (): Promise<void> => {
    running = await listening(address, folder);
  };
  const stop = async (): Promise<void> => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (fault) {
    await stop();
    throw fault;
  }
  return { kill, start, stop };
};

/** By way of its standard input: whoever lists processes reads no password. */
const configOf = ({ endpoint, username, password, db }: SingleAddress, folder: string): string => {
  const { host, port } = endpoint;
  const lines = [
    `bind ${host === "localhost" ? "127.0.0.1 -::1" : host}`,
    ...[`port ${port}`, `dir ${folder}`, 'save ""', "appendonly no", `databases ${Math.max(USUAL_DATABASES, db + 1)}`],
  ];
  if (username === null && password === null) return `${lines.join("\n")}\n`;
  const secret = password === null ? "nopass" : `#${createHash("sha256").update(password).digest("hex")}`;
  const rights = `on ${secret} ~* &* +@all`;
  // The user `default` is everybody who names no user.
  lines.push(...(username === null ? [] : ["user default off"]), `user ${username ?? "default"} ${rights}`);
  return `${lines.join("\n")}\n`;
};

const listening = async (address: SingleAddress, folder: string): Promise<ChildProcess> => {
  const child = spawn("redis-server", ["-"], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  const hear = (data: Buffer): void => {
    said = (said + data.toString()).slice(-2_000);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  // One that ends at once hears nothing any more; why it ended is told below.
  child.stdin.on("error", () => undefined);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw unusable(
      `redis-server cannot be started (${String(cause)}): install it, or name a Redis that runs somewhere`,
      cause,
    );
  }
  child.stdin.end(configOf(address, folder));
  endWithThisProcess(child, folder);
  const deadlineMs = performance.now() + START_DEADLINE_MS;
  while (!(await listens(address))) {
    if (hasEnded(child)) throw unusable(`redis-server ended at once: ${said.trim()}`);
    if (performance.now() > deadlineMs) {
      child.kill("SIGKILL");
      throw unusable(`redis-server did not listen within ${START_DEADLINE_MS} ms: ${said.trim()}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
  return child;
};

/** A guard waits on a pipe that closes when this process ends, by whatever signal. */
const endWithThisProcess = (child: ChildProcess, folder: string): void => {
  const script = 'read -r _; kill -9 "$1"; rm -rf "$2"';
  const guard = spawn("sh", ["-c", script, "sh", String(child.pid), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Its number may be another process's once it has ended.
  child.once("exit", () => guard.kill("SIGKILL"));
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Whether somebody takes connections there. */
export const listens = async ({ endpoint }: SingleAddress): Promise<boolean> => {
  const socket = connect(endpoint);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

const unusable = (message: string, cause?: unknown): OperationalError =>
  new OperationalError("DEMO_REDIS_UNUSABLE", message, { cause });
