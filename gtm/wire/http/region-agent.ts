/** Connections to the regions that requests are forwarded to: a pool for each region's origin. */
import { rootCertificates } from "node:tls";
import { Agent } from "undici";
import { readSecretFile } from "#shared/config.ts";
import type { Limits } from "./limits.ts";

/** Below the 5 s after which common engines' servers close a kept connection, so that they do not close one that is just used. */
const KEEP_ALIVE_MS = 4_000;
/** Ten chains take 200 kB. */
const MOST_CA_BYTES = 1_048_576;

/**
 * @param caFile PEM of a private authority, trusted beside the public ones; null: those that Node trusts
 * @throws {OperationalError} GTM_CONFIG_UNREADABLE
 */
export const regionAgent = (limits: Pick<Limits, "connectMs" | "connections">, caFile: string | null): Agent => {
  const ca = caFile === null ? {} : { ca: [...rootCertificates, readSecretFile(caFile, MOST_CA_BYTES)] };
  return new Agent({
    connections: limits.connections,
    pipelining: 1,
    // Trailers and a broken connection mean the same to every region over HTTP/1.1.
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: limits.connectMs, ...ca },
  });
};
