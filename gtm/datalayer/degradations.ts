/** What does not work as it should, why, and since when: the one register that health, metrics, the API and `why` read. */
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/**
 * `store`: nothing of it works. `reports`, `orders`, `challenges`, `tokens`, `pins`, `sent`, `decisions`: this part of it does not.
 * `regions`: some are not healthy. `ages`: most of them fell silent at once. `world`: the world file. `keys`: made at start, or unreadable.
 * `instances`: GTMs disagree. `dns`: threads that answer DNS are away. `configuration`: the file is refused, an older one stands.
 */
const DEGRADABLE = [
  "store",
  "reports",
  "orders",
  "challenges",
  "tokens",
  "pins",
  "sent",
  "decisions",
  "regions",
  "ages",
  "world",
  "keys",
  "instances",
  "dns",
  "configuration",
] as const;
export type DegradedWhat = (typeof DEGRADABLE)[number];

export type Degradation = {
  readonly what: DegradedWhat;
  /** One sentence for people. */
  readonly reason: string;
  /** Epoch ms by the clock as it is set now: also after it was set, the age is right. */
  readonly sinceMs: number;
};

export type Degradations = {
  /** Cheap where nothing changes. @param reason null: it works. A new reason for what is degraded already keeps its since. */
  readonly set: (what: DegradedWhat, reason: string | null) => void;
  /** In the order of `DEGRADABLE`. */
  readonly current: () => readonly Degradation[];
};

export const createDegradations = (options: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}): Degradations => {
  const { clock, log } = options;
  const standing = new Map<DegradedWhat, { readonly reason: string; readonly fromMs: number }>();
  const gauge = options.metrics.gauge({
    name: "gtm_degraded",
    help: "1 while this does not work as it should, else 0; /readyz?verbose has the reasons.",
    labels: ["what"],
  });
  for (const what of DEGRADABLE) gauge.set(0, { what });

  const end = (what: DegradedWhat, fromMs: number): void => {
    standing.delete(what);
    gauge.set(0, { what });
    log.info("degraded.ended", { what, lastedMs: Math.round(clock.monotonicMs() - fromMs) });
  };
  const begin = (what: DegradedWhat, reason: string): void => {
    standing.set(what, { reason, fromMs: clock.monotonicMs() });
    gauge.set(1, { what });
    log.warn("degraded.began", { what, reason });
  };
  return {
    set: (what, reason) => {
      const before = standing.get(what);
      if (reason === null) {
        if (before !== undefined) end(what, before.fromMs);
      } else if (before === undefined) begin(what, reason);
      else if (before.reason !== reason) standing.set(what, { ...before, reason });
    },
    current: () => {
      const offsetMs = clock.epochMs() - clock.monotonicMs();
      return DEGRADABLE.flatMap((what) => {
        const one = standing.get(what);
        return one === undefined ? [] : [{ what, reason: one.reason, sinceMs: Math.round(one.fromMs + offsetMs) }];
      });
    },
  };
};
