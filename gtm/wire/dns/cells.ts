/** What pool and model names answer, area by area: decided once, encoded once, answered many times, recorded once. */
import { LRUCache } from "lru-cache";
import type { Client } from "#gtm/domain/client.ts";
import type { Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import { type Cell, type CellSteer, cellOf, needsDecision } from "#gtm/steering/cell.ts";
import type { Ports, Query } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Image } from "./image.ts";
import type { Render } from "./render.ts";
import type { RenderHttps } from "./render-https.ts";

/**
 * A cell's standing decision; renewed in place, so that every network that shares it sees the new one. What each query
 * looks at comes first and is not nested: a query for ten thousand networks finds little of this in the processor's caches.
 */
export type StandingCell = {
  image: Image;
  /** Whether another client might have got another answer. */
  isTailored: boolean;
  candidacyVersion: number;
  worldVersion: number;
  /** By the world's own time, so that whoever has the same worlds renews at the same ones; whole milliseconds. */
  decidedAtMs: number;
  /** Counts on in the record while the decision stands. */
  answered: { value: number };
  decision: Decision;
  /** The same answer to be kept for less; null until somebody needs it. */
  brief: Image | null;
  /** The same decision as an HTTPS record; null until somebody asks. */
  https: Image | null;
  /** What the cell was last sent to, so that small differences do not move it; null: nowhere yet. */
  region: RegionId | null;
  readonly cell: Cell;
  /** Whoever asked first from the cell's area. */
  readonly client: Client;
};

export type Cells = {
  /** The cell of a client who has not been seen with this pool and family. */
  readonly enter: (pool: Pool, client: Client, family: 4 | 6) => StandingCell;
  /** Decides anew where the world asks for it. */
  readonly renew: (standing: StandingCell) => void;
  /** The same answer, to be kept for at most five seconds. */
  readonly brief: (standing: StandingCell) => Image;
  /** What the cell's region speaks over TLS. */
  readonly https: (standing: StandingCell) => Image;
};

/** Of a label without a home: its first turn may give it one. */
const BRIEF_TTL_SECONDS = 5;

export type CellOptions = {
  readonly ports: Pick<Ports, "world" | "record">;
  readonly decideCell: CellSteer;
  readonly render: Render;
  readonly renderHttps: RenderHttps;
  readonly newId: (cell: Cell) => DecisionId;
  readonly clock: Pick<Clock, "monotonicMs">;
};

const MOST_CELLS = 32_768;

export const createCells = ({ ports, decideCell, render, renderHttps, newId, clock }: CellOptions): Cells => {
  const cells = new LRUCache<string, StandingCell>({ max: MOST_CELLS });

  const decide = (cell: Cell, client: Client, previous: RegionId | null): StandingCell => {
    const nowMs = clock.monotonicMs();
    const world = ports.world();
    const query = queryOf({ cell, client, id: newId(cell), nowMs });
    const decision = decideCell(query, client, cell, previous);
    const { image, isTailored } = render(decision, cell.family);
    const answered = { value: 0 };
    ports.record({ query, decision, answer: image.octets, answered });
    return {
      image,
      isTailored,
      candidacyVersion: world.candidacyVersion,
      worldVersion: world.version,
      decidedAtMs: Math.trunc(world.takenAtMs),
      answered,
      decision,
      brief: null,
      https: null,
      region: regionOf(decision.verdict) ?? previous,
      cell,
      client,
    };
  };
  const renew = (standing: StandingCell): void => {
    const world = ports.world();
    // By the world's own time, at most a snapshot behind: to read the clock for each query would allocate.
    if (!needsDecision(standing, world, world.takenAtMs)) return;
    Object.assign(standing, decide(standing.cell, standing.client, standing.region));
  };

  return {
    enter: (pool, client, family) => {
      const cell = cellOf(pool, client, family);
      const known = cells.get(cell.key);
      if (known !== undefined) {
        renew(known);
        return known;
      }
      const made = decide(cell, client, null);
      cells.set(cell.key, made);
      return made;
    },
    renew,
    brief: (standing) => {
      standing.brief ??= render(standing.decision, standing.cell.family, BRIEF_TTL_SECONDS).image;
      return standing.brief;
    },
    https: (standing) => {
      standing.https ??= renderHttps(standing.decision, standing.cell.family);
      return standing.https;
    },
  };
};

type Asked = { readonly cell: Cell; readonly client: Client; readonly id: DecisionId; readonly nowMs: number };

const queryOf = ({ cell, client, id, nowMs }: Asked): Query => ({
  id,
  channel: "dns",
  kind: "cell",
  pool: cell.pool,
  model: cell.model,
  tenant: "default",
  clientSubnet: client.subnet,
  conversationId: null,
  pinnedTo: null,
  promptTokens: null,
  outputTokens: null,
  outputLimitTokens: null,
  parentId: null,
  stateRegion: null,
  receivedAtMs: nowMs,
});
