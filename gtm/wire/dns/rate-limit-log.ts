/** Tells now and then that networks are over their rate: a flood must not become a flood of log lines. */
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { RateLimited } from "./tally.ts";

const TELL_EVERY_MS = 60_000;

export type RateLimitLog = {
  /** @param limited since it was called last */
  readonly tell: (limited: RateLimited) => void;
};

export const createRateLimitLog = (options: {
  readonly limiter: Pick<RateLimiter, "lastLimited">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Logger;
}): RateLimitLog => {
  const { limiter, clock, log } = options;
  let slipped = 0;
  let dropped = 0;
  let toldAtMs: number | null = null;
  return {
    tell: ({ slip, drop }) => {
      slipped += slip;
      dropped += drop;
      if (slipped + dropped === 0) return;
      const nowMs = clock.monotonicMs();
      if (toldAtMs !== null && nowMs - toldAtMs < TELL_EVERY_MS) return;
      log.warn("dns.rate-limited", { slipped, dropped, lastSubnet: limiter.lastLimited() });
      toldAtMs = nowMs;
      slipped = 0;
      dropped = 0;
    },
  };
};
