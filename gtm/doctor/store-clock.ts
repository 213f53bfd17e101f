/** How far this host's clock and the store's are apart. Pure. */
import { age } from "#gtm/cli/quantity.ts";
import type { StoreFacts } from "#shared/store-redis-facts.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { brief, type Finding, ok, problem, unknown, warning } from "./finding.ts";
import type { RedisFacts } from "./store-reach.ts";

const NOTICEABLE_MS = 1_000;
const HARMFUL_MS = 60_000;
const REMEDY = "Let NTP set both clocks: `timedatectl set-ntp true`, then `chronyc tracking` on each host.";

export const clockFindings = ({ servers }: RedisFacts): readonly Finding[] =>
  servers.filter(({ away, isExpected }) => away === null && isExpected).map(ofServer);

const ofServer = ({ place, clock, why }: ServerFacts): Finding => {
  if (clock === null)
    return unknown("clock-skew", `What time it is at ${place} is not known: ${why["clock"] ?? "not asked"}.`);
  const { aheadMs, errorMs } = clock;
  // What the way there and back may account for is no skew.
  const skewMs = Math.max(0, Math.abs(aheadMs) - errorMs);
  const error = `within ${brief(errorMs)}`;
  if (skewMs <= NOTICEABLE_MS) {
    return ok("clock-skew", `This host's clock and that of ${place} are ${brief(Math.abs(aheadMs))} apart, ${error}.`);
  }
  const what = `This host's clock is ${age(Math.abs(aheadMs))} ${aheadMs > 0 ? "behind" : "ahead of"} that of ${place}, ${error}`;
  if (skewMs <= HARMFUL_MS)
    return warning("clock-skew", `${what}: times in logs and decisions do not compare.`, REMEDY);
  return problem(
    "clock-skew",
    `${what}: orders end, tokens age and the list of conversations is sorted by this clock.`,
    REMEDY,
  );
};

/** Of a Cluster's servers, whose clocks are compared elsewhere, the first. */
export const storeAheadMs = (facts: StoreFacts): number | null =>
  facts.kind === "memory" ? null : (facts.servers.find(({ clock }) => clock !== null)?.clock?.aheadMs ?? null);
