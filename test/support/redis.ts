/** A real redis-server on a free port of loopback, without persistence; disposable. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Certificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { type Login, redisCli } from "./redis-cli.ts";
import { lastWords, type RedisProcess, startRedisProcess } from "./redis-process.ts";
import { until } from "./until.ts";

export type RedisOptions = {
  readonly port?: number;
  /** Of redis-server, such as `--maxmemory 10mb`; they win over everything else. */
  readonly args?: readonly string[];
  readonly aclFile?: string;
  /** A configuration; written once, so that what the server changes in it outlives a restart. */
  readonly config?: string;
  /** Then it speaks nothing but TLS, and asks clients for a certificate if told so. */
  readonly tls?: Certificates & { readonly asksClients?: boolean };
  /** As whom `cli` speaks; without it, as `default` without a password. */
  readonly login?: Login;
};

export type RedisServer = AsyncDisposable & {
  /** `redis://127.0.0.1:port`, or `rediss://`. */
  readonly url: string;
  readonly port: number;
  /** Another one after a restart. */
  readonly pid: number;
  readonly kill: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM") => void;
  /** Kills it if it lives, and starts it on the same port, empty. */
  readonly restart: () => Promise<void>;
  /** @see redisCli */
  readonly cli: (...args: readonly string[]) => Promise<string>;
  readonly stop: () => Promise<void>;
};

const NOTHING_ON_DISK = ["--save", "", "--appendonly", "no"];

/** @returns once it answers PING */
export const startRedis = async (options: RedisOptions = {}): Promise<RedisServer> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-redis-"));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  const port = options.port ?? (await freePort());
  const { tls = null, login = null } = options;
  const cli = (...args: readonly string[]): Promise<string> => redisCli({ port, tls, login }, ...args);
  const words = wordsOf(folder, port, options);

  const start = async (): Promise<RedisProcess> => {
    const started = await startRedisProcess(folder, words);
    const answers = async (): Promise<boolean> => {
      if (started.hasEnded()) throw new Error(`redis-server ended: ${lastWords(folder)}`);
      return cli("ping").then(
        (reply) => reply === "PONG",
        // Whoever may not speak was answered.
        ({ message }: Error) => /^(?:AUTH failed|NOAUTH|NOPERM)/.test(message),
      );
    };
    try {
      await until(answers, `PONG from port ${port}`);
    } catch (failed) {
      await started.end();
      throw failed;
    }
    return started;
  };
  let running = await start();

  const stop = async (): Promise<void> => {
    await running.end();
    process.off("exit", removeFolder);
    removeFolder();
  };
  return {
    url: `${tls === null ? "redis" : "rediss"}://127.0.0.1:${port}`,
    port,
    get pid() {
      return running.pid;
    },
    kill: (signal) => running.kill(signal),
    restart: async () => {
      await running.end();
      running = await start();
    },
    cli,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};

const wordsOf = (folder: string, port: number, options: RedisOptions): readonly string[] => {
  const words: string[] = [];
  if (options.config !== undefined) {
    const file = join(folder, "redis.conf");
    writeFileSync(file, options.config);
    words.push(file);
  }
  words.push("--dir", folder, "--bind", "127.0.0.1", ...listenWords(port, options.tls));
  if (options.aclFile !== undefined) words.push("--aclfile", options.aclFile);
  const isSentinel = options.args?.includes("--sentinel") === true;
  return [...words, ...(isSentinel ? [] : NOTHING_ON_DISK), ...(options.args ?? [])];
};

const listenWords = (port: number, tls: RedisOptions["tls"]): readonly string[] => {
  if (tls === undefined) return ["--port", String(port)];
  return [
    ...["--port", "0", "--tls-port", String(port), "--tls-ca-cert-file", tls.caFile],
    ...["--tls-cert-file", tls.server.certFile, "--tls-key-file", tls.server.keyFile],
    ...["--tls-auth-clients", tls.asksClients === true ? "yes" : "optional"],
    ...["--tls-replication", "yes", "--tls-cluster", "yes"],
  ];
};
