/** redis-cli, once: for what a test sets up and asserts, beside the program's own connection. */
import { execFile } from "node:child_process";
import type { Certificates } from "./certificates.ts";

export type Login = { readonly user: string; readonly password: string };
export type RedisAddress = {
  readonly port: number;
  readonly tls: Certificates | null;
  readonly login: Login | null;
};

/** A server that is stopped would keep it for ever. */
const PATIENCE_MS = 5_000;

/**
 * @returns the reply as redis-cli prints it to a pipe: one line an element, without the last line break
 * @throws {Error} with the server's words for an error reply; also when nobody listens or answers within 5 s
 */
export const redisCli = ({ port, tls, login }: RedisAddress, ...args: readonly string[]): Promise<string> => {
  const words = ["-h", "127.0.0.1", "-p", String(port), "-e"];
  if (tls !== null) {
    words.push("--tls", "--cacert", tls.caFile, "--cert", tls.client.certFile, "--key", tls.client.keyFile);
  }
  if (login !== null) words.push("--user", login.user, "--no-auth-warning");
  const env = login === null ? process.env : { ...process.env, REDISCLI_AUTH: login.password };
  return new Promise((resolve, reject) => {
    const options = { env, timeout: PATIENCE_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1_048_576 } as const;
    execFile("redis-cli", [...words, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.replace(/\n$/, ""));
      else reject(new Error(error.killed === true ? `no answer within ${PATIENCE_MS} ms` : stderr.trim() || stdout));
    });
  });
};
