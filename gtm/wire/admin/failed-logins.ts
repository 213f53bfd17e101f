/** Failed authentications by network: beyond a few a minute they are told to wait, and whoever watches is told of them. */
import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { clientSubnetOf } from "./client-subnet.ts";

export type FailedLogins = {
  /** One more. @returns seconds after which they may fail again; null: they may go on */
  readonly failed: (address: string | undefined) => number | null;
};

/** A person types a few times, a page with an old token asks a few times a second until somebody looks at it. */
const BURST = 60;
const ANOTHER_EVERY_MS = 2_000;
const TOLD_EVERY_MS = 60_000;
/** Networks remembered: the one that failed longest ago is forgotten, which makes the limit lenient. */
const MOST_NETWORKS = 4_096;

type Seen = { tokens: number; atMs: number; failures: number; toldAtMs: number };

/**
 * Only failures are limited, after the token was looked at: 256 random bits are not guessed, so what there is to save is noise
 * and work, and a valid token gets in however many fail beside it behind the same proxy.
 */
export const createFailedLogins = ({ clock, log }: { readonly clock: Clock; readonly log: Logger }): FailedLogins => {
  const networks = new LRUCache<string, Seen>({ max: MOST_NETWORKS });
  return {
    failed: (address) => {
      const network = (address === undefined ? null : clientSubnetOf(address)) ?? "unknown";
      const nowMs = clock.monotonicMs();
      const seen = networks.get(network) ?? { tokens: BURST, atMs: nowMs, failures: 0, toldAtMs: nowMs };
      seen.tokens = Math.min(BURST, seen.tokens + (nowMs - seen.atMs) / ANOTHER_EVERY_MS);
      seen.atMs = nowMs;
      seen.failures += 1;
      networks.set(network, seen);
      if (seen.tokens >= 1) {
        seen.tokens -= 1;
        return null;
      }
      if (seen.toldAtMs <= nowMs) {
        log.warn("admin.logins-failing", { network, failures: seen.failures });
        seen.toldAtMs = nowMs + TOLD_EVERY_MS;
        seen.failures = 0;
      }
      return Math.ceil(((1 - seen.tokens) * ANOTHER_EVERY_MS) / 1_000);
    },
  };
};
