/** What the DNS benchmark asks and whom: a pool's name, ten thousand client networks, the production steering on a world that is renewed. */
import { createDecisionIds } from "#gtm/decision-id.ts";
import type { World } from "#gtm/domain/world.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { DnsServerOptions } from "#gtm/wire/dns/server.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { aClient, aWorld, PLACES, type Place } from "#test/support/builders.ts";
import { queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, REGIONS } from "#test/support/dns-zone.ts";

export const CLIENT_NETWORKS = 10_000;
/** The networks share this many areas, as the networks of a continent do. */
const AREAS = 1_000;
const NEAR = Object.keys(PLACES) as readonly Place[];

/** Each from another /24. */
export const subnetQueries = (): readonly Buffer[] =>
  Array.from({ length: CLIENT_NETWORKS }, (_, i) =>
    queryOctets({ id: i, opt: { options: subnetOption(1, 24, [100, i >>> 8, i & 0xff]) } }),
  );

/** @returns the server's options, and what publishes the next snapshot, which the world source does every 100 ms */
export const dnsSubject = (): { readonly options: DnsServerOptions; readonly renew: () => void } => {
  let world: World = aWorld(REGIONS, { takenAtMs: systemClock.monotonicMs() });
  const kept: (Entry | undefined)[] = Array.from({ length: 10_000 });
  let at = 0;
  const ports: Ports = {
    world: () => world,
    locate: (subnet) => {
      const [, high, low] = subnet.split(".").map(Number);
      const area = ((high ?? 0) * 256 + (low ?? 0)) % AREAS;
      return aClient(NEAR[area % NEAR.length] ?? "frankfurt", { subnet, area: `area-${area}`, source: "geo" });
    },
    findConversation: () => null,
    record: (entry) => {
      kept[at++ % kept.length] = entry;
    },
  };
  return {
    options: {
      ...aDnsSetting().options,
      ports,
      steer: createSteer(ports, DEFAULT_POLICY),
      decideCell: createCellSteer(ports, DEFAULT_POLICY),
      clock: systemClock,
      newId: createDecisionIds(systemClock),
      log: silentLogger,
      // Counted and never reached: with loopback exempt it would cost less.
      rateLimit: { perPrefixQps: 1_000_000_000, slip: 2, exempt: [] },
    },
    renew: () => {
      world = { ...world, version: world.version + 1, takenAtMs: systemClock.monotonicMs() };
    },
  };
};
