/** Placements and their replicas as tables. */
import type { PlacementView } from "#gtm/wire/admin/placement-view.ts";
import type { Look } from "./fitted.ts";
import { age, bytes, count, fraction, milliseconds } from "./quantity.ts";
import { table } from "./table.ts";

export const placementTable = (placements: readonly PlacementView[], look: Look): string =>
  table(
    [
      { header: "REGION" },
      { header: "MODEL", canShorten: true },
      { header: "STATE" },
      { header: "REPLICAS", align: "right", leave: 2 },
      { header: "BACKLOG", align: "right" },
      { header: "RUNNING", align: "right", leave: 6 },
      { header: "WAITING", align: "right" },
      { header: "KV USED", align: "right" },
      { header: "PREFIX HIT", align: "right", leave: 4 },
      { header: "PREFILL TOK/S", align: "right", leave: 3 },
      { header: "ITL", align: "right", leave: 1 },
      { header: "TTFT P50", align: "right", leave: 5 },
      { header: "REPORT AGE", align: "right" },
    ],
    placements.map((one) => [
      one.region,
      one.model,
      one.state,
      String(one.replicas.length),
      one.isBacklogKnown ? milliseconds(leastBacklog(one)) : "unknown",
      count(one.requestsRunning),
      count(one.requestsWaiting),
      fraction(one.kvCacheUsedFraction),
      fraction(one.prefixHitFraction),
      one.prefillConfidence < LOW_CONFIDENCE
        ? `${count(one.prefillTokensPerSecond)}?`
        : count(one.prefillTokensPerSecond),
      milliseconds(one.itlMs),
      milliseconds(one.ttftP50Ms),
      one.reportAgeMs === null ? "never" : age(one.reportAgeMs),
    ]),
    look,
  );

/** Below it a rate is a guess, and is marked so. */
const LOW_CONFIDENCE = 0.25;

/** What a turn that holds nothing here would wait. */
const leastBacklog = ({ replicas }: PlacementView): number | null =>
  replicas.length === 0 ? null : Math.min(...replicas.map((replica) => replica.backlogMs));

export const replicaTable = (placements: readonly PlacementView[], isColourful: boolean): string =>
  table(
    [
      { header: "REPLICA" },
      { header: "MODEL" },
      { header: "BACKLOG", align: "right" },
      { header: "KV CAPACITY", align: "right" },
      { header: "KV PINNED", align: "right" },
    ],
    placements.flatMap(({ model, replicas }) =>
      replicas.map((one) => [
        one.id,
        model,
        milliseconds(one.backlogMs),
        tokens(one.kvCapacityTokens),
        tokens(one.kvPinnedTokens),
      ]),
    ),
    isColourful,
  );

const tokens = (value: number | null): string => (value === null ? count(value) : `${count(value)} tokens`);

/** Second tiers of prefix caches; "" where no source tells of one. */
export const cacheTierTable = (placements: readonly PlacementView[], isColourful: boolean): string => {
  const rows = placements.flatMap(({ region, model, cacheTiers }) =>
    cacheTiers.map((one) => [
      ...[region, model, one.tier, one.source],
      fraction(one.hitFraction),
      fraction(one.hitFractionSinceStart),
      fraction(one.usedFraction),
      bytes(one.memoryUsedBytes),
      bytes(one.storageUsedBytes),
      bytes(one.remoteUsedBytes),
    ]),
  );
  if (rows.length === 0) return "";
  const columns = [
    ...["REGION", "MODEL", "CACHE TIER", "TOLD BY"].map((header) => ({ header })),
    ...["HIT", "SINCE START", "USED", "IN MEMORY", "ON DISK", "REMOTE"].map((header) => ({
      header,
      align: "right" as const,
    })),
  ];
  return table(columns, rows, isColourful);
};
