/** The decision behind a DNS name asked from an area: a commitment for its TTL times the resolver's clients, not a turn. */
import type { Client } from "#gtm/domain/client.ts";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { ModelId, RegionId } from "#shared/ids.ts";
import { cellDemand } from "./cell-moves.ts";
import { NO_DEMAND } from "./persistence.ts";
import type { Policy } from "./policy.ts";
import type { Ports, Query } from "./ports.ts";
import { decisionOf } from "./steer.ts";
import { modelOf, turnOf } from "./turn.ts";

export type Cell = {
  /** The same on every GTM. */
  readonly key: string;
  readonly pool: Pool;
  readonly model: ModelId;
  readonly area: string;
  readonly family: 4 | 6;
};

/** Clients of one area get one answer; where nothing is known of a client's place, its network is its area. */
export const cellOf = (pool: Pool, client: Client, family: 4 | 6): Cell => {
  const model = modelOf({ pool, model: null });
  const area = client.area ?? client.subnet;
  return { key: `${pool.name}|${model}|${area}|${family}`, pool, model, area, family };
};

export type CellSteer = (query: Query, client: Client, cell: Cell, previous: RegionId | null) => Decision;

/**
 * When a region begins to serve (as all do one after another when a GTM starts), cells that would be elsewhere if nothing waited
 * anywhere go by the margin alone, or those decided before it came would wait for their minutes. The others do not: all together
 * would follow the shortest queue, find themselves in it, and leave again. Longer than three TTLs, so that each is asked for meanwhile.
 */
const OPEN_FOR_MS = 60_000;

/**
 * Does not record: a cell is recorded once a decision and answered many times. A move that stands for an hour goes by queues averaged
 * over minutes; what is worth seconds, and a first answer, by those of the last minute.
 */
export const createCellSteer = (ports: Pick<Ports, "world">, policy: Policy): CellSteer => {
  const withoutQueues = createWorldView(() => 0);
  const withLongQueues = createWorldView(({ longAverageBacklogMs }) => longAverageBacklogMs);
  return (query, client, cell, previous) => {
    const world = ports.world();
    const asked = { ...query, kind: "cell" as const, conversationId: null, pinnedTo: null };
    const turn = { ...turnOf(asked, client, null, world, policy), home: previous, hashKey: cell.key };
    const idleRegion = () => regionOf(decisionOf(query, turn, withoutQueues(world), policy).verdict);
    const isOpened = world.takenAtMs - world.openedAtMs < OPEN_FOR_MS;
    const isFree = previous === null || (isOpened && idleRegion() !== previous);
    const demand = isFree ? NO_DEMAND : cellDemand(cell.key, world.takenAtMs + world.epochAheadMs);
    return decisionOf(query, turn, demand.isForAnHour ? withLongQueues(world) : world, policy, demand);
  };
};

/** The world with other queues, as cells see them: made once, however many cells are decided in it. */
const createWorldView = (backlogMsOf: (placement: Placement) => number): ((world: World) => World) => {
  let last: { readonly of: World; readonly seen: World } | null = null;
  return (world) => {
    if (last?.of === world) return last.seen;
    const regions = world.regions.map((region) => ({
      ...region,
      placements: new Map(
        [...region.placements].map(([model, one]) => [model, { ...one, averageBacklogMs: backlogMsOf(one) }]),
      ),
    }));
    last = { of: world, seen: { ...world, regions } };
    return last.seen;
  };
};

/** How long a cell's decision stands at least, while no region's candidacy changes. */
export const CELL_DECISION_MS = 1_000;

export type DecidedCell = {
  readonly decidedAtMs: number;
  readonly worldVersion: number;
  readonly candidacyVersion: number;
};

/** At once when a region's candidacy changed; else at most once a second, and only if anything is new. */
export const needsDecision = (last: DecidedCell, world: World, nowMs: number): boolean =>
  world.candidacyVersion !== last.candidacyVersion ||
  (world.version !== last.worldVersion && nowMs - last.decidedAtMs >= CELL_DECISION_MS);
