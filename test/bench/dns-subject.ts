/**
 * What the DNS benchmarks ask and whom: a pool's name from ten thousand client networks, the labels of ten thousand
 * conversations, the production steering on a world that is renewed.
 */
import { createDecisionIds } from "#gtm/decision-id.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { DnsServerOptions } from "#gtm/wire/dns/server.ts";
import { systemClock } from "#shared/clock.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { silentLogger } from "#shared/logger.ts";
import { createLabels, type LabelKeys } from "#shared/pin-token.ts";
import { aClient, aConversation, aWorld, PLACES, type Place, regionId } from "#test/support/builders.ts";
import { queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, CHAT, REGIONS, ZONE } from "#test/support/dns-zone.ts";

export const CLIENT_NETWORKS = 10_000;
/** The networks share this many areas, as the networks of a continent do. */
const AREAS = 1_000;
const NEAR = Object.keys(PLACES) as readonly Place[];

/** Each from another /24. */
export const subnetQueries = (): readonly Buffer[] =>
  Array.from({ length: CLIENT_NETWORKS }, (_, i) =>
    queryOctets({ id: i, opt: { options: subnetOption(1, 24, [100, i >>> 8, i & 0xff]) } }),
  );

/** The same in every process. */
const KEYS: LabelKeys = {
  identityKey: Buffer.alloc(32, 1),
  signingKeys: [{ id: 1, key: Buffer.alloc(32, 2) }],
};
const LABELS = 10_000;
const HOMES = ["frankfurt", "virginia", "singapore"].map(regionId);

type Labelled = { readonly name: string; readonly home: RegionId; readonly conversation: ConversationId };

/** Conversations that the ledger knows, a third of them in each region. */
export const labelled = (): readonly Labelled[] => {
  const labels = createLabels(KEYS);
  return Array.from({ length: LABELS }, (_, i) => {
    const conversation = labels.conversationIdOf("bench", `conversation ${i}`);
    const home = HOMES[i % HOMES.length] ?? regionId("frankfurt");
    const label = labels.mint({ pool: CHAT.name, region: home, conversation, issuedAtMs: Date.now() });
    return { name: `${label}.c.${ZONE.name}`, home, conversation };
  });
};

/** In turn a pool's name and a label, each from the next network. */
export const mixedQueries = (names: readonly { readonly name: string }[] = labelled()): readonly Buffer[] =>
  subnetQueries().flatMap((poolQuery, i) => {
    const options = subnetOption(1, 24, [100, i >>> 8, i & 0xff]);
    return [poolQuery, queryOctets({ id: i, name: names[i % names.length]?.name ?? "", opt: { options } })];
  });

export type DnsSubject = {
  readonly options: DnsServerOptions;
  /** Publishes the next snapshot, as the world source does every 100 ms. */
  readonly renew: () => void;
  /** The next region reports another backlog, 0 to 45 ms, and the next snapshot is published. */
  readonly report: () => void;
};

const BACKLOGS_MS = [0, 15, 30, 45];

const withBacklog = (region: Region, backlogMs: number): Region => ({
  ...region,
  placements: new Map(
    [...region.placements].map(([model, placement]) => [
      model,
      {
        ...placement,
        averageBacklogMs: backlogMs,
        longAverageBacklogMs: backlogMs,
        replicas: placement.replicas.map((replica) => ({ ...replica, backlogMs })),
      },
    ]),
  ),
});

export const dnsSubject = (): DnsSubject => {
  let world: World = aWorld(REGIONS, { takenAtMs: systemClock.monotonicMs() });
  const kept: (Entry | undefined)[] = Array.from({ length: 10_000 });
  let at = 0;
  let reports = 0;
  const conversations = new Map(
    labelled().map(({ home, conversation: id }) => [id, { ...aConversation({ home, contextTokens: 20_000 }), id }]),
  );
  const ports: Ports = {
    world: () => world,
    locate: (subnet) => {
      const [, high, low] = subnet.split(".").map(Number);
      const area = ((high ?? 0) * 256 + (low ?? 0)) % AREAS;
      return aClient(NEAR[area % NEAR.length] ?? "frankfurt", { subnet, area: `area-${area}`, source: "geo" });
    },
    findConversation: (id) => (id === null ? null : (conversations.get(id) ?? null)),
    record: (entry) => {
      kept[at++ % kept.length] = entry;
    },
  };
  return {
    options: {
      ...aDnsSetting().options,
      ports,
      labels: createLabels(KEYS),
      steer: createSteer(ports, DEFAULT_POLICY),
      decideCell: createCellSteer(ports, DEFAULT_POLICY),
      clock: systemClock,
      newId: createDecisionIds(systemClock),
      log: silentLogger,
      rateLimit: { perPrefixQps: 200, slip: 2, exempt: ["127.0.0.0/8"] },
    },
    renew: () => {
      world = { ...world, version: world.version + 1, takenAtMs: systemClock.monotonicMs() };
    },
    report: () => {
      const turn = reports++;
      const backlogMs = BACKLOGS_MS[turn % BACKLOGS_MS.length] ?? 0;
      const regions = world.regions.map((region, i) =>
        i === turn % world.regions.length ? withBacklog(region, backlogMs) : region,
      );
      world = { ...world, regions, version: world.version + 1, takenAtMs: systemClock.monotonicMs() };
    },
  };
};
