/** What pool and model names answer, area by area: decided once, encoded once, answered many times, recorded once. */
import { LRUCache } from "lru-cache";
import type { Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { type Cell, type CellSteer, cellOf, type DecidedCell, needsDecision } from "#gtm/steering/cell.ts";
import type { Ports, Query } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Area } from "./areas.ts";
import type { Render, Rendered } from "./render.ts";
import type { SteeredName } from "./zone-names.ts";

/** A cell's standing decision; renewed in place, so that every area that shares it sees the new one. */
export type StandingCell = {
  readonly cell: Cell;
  decision: Decision;
  rendered: Rendered;
  /** The same answer to be kept for less; null until somebody needs it. */
  brief: Rendered | null;
  /** Counts on in the record while the decision stands. */
  answered: { value: number };
  /** What the cell was last sent to, so that small differences do not move it; null: nowhere yet. */
  region: RegionId | null;
  stands: DecidedCell;
};

export type CellArea = Area<StandingCell | undefined>;

export type Cells = {
  /** @returns null: the name has no addresses of this family, whoever asks */
  readonly find: (area: CellArea, name: SteeredName, family: 4 | 6) => StandingCell | null;
  /** The same answer, to be kept for at most `BRIEF_TTL_SECONDS`. */
  readonly brief: (standing: StandingCell) => Rendered;
};

/** Of a label without a home: its first turn may give it one. */
const BRIEF_TTL_SECONDS = 5;

export type CellOptions = {
  readonly ports: Pick<Ports, "world" | "record">;
  readonly decideCell: CellSteer;
  readonly render: Render;
  readonly newId: () => DecisionId;
  readonly clock: Pick<Clock, "monotonicMs">;
};

const MOST_CELLS = 32_768;

export const createCells = ({ ports, decideCell, render, newId, clock }: CellOptions): Cells => {
  const cells = new LRUCache<string, StandingCell>({ max: MOST_CELLS });

  const decide = (cell: Cell, area: CellArea, previous: RegionId | null, nowMs: number): StandingCell => {
    const world = ports.world();
    const query = queryOf(cell, area, newId(), nowMs);
    const decision = decideCell(query, area.client, cell, previous);
    const rendered = render(decision, cell.family);
    const answered = { value: 0 };
    ports.record({ query, decision, answer: rendered.image.octets, answered });
    return {
      cell,
      decision,
      rendered,
      brief: null,
      answered,
      region: regionOf(decision.verdict) ?? previous,
      stands: { decidedAtMs: nowMs, worldVersion: world.version, candidacyVersion: world.candidacyVersion },
    };
  };
  /** The first time that this name is asked from this area. */
  const enter = (area: CellArea, name: SteeredName, family: 4 | 6): StandingCell | null => {
    const pool = family === 4 ? name.ipv4 : name.ipv6;
    if (pool === null) return null;
    const cell = cellOf(pool, area.client, family);
    const known = cells.get(cell.key);
    if (known !== undefined) return known;
    const made = decide(cell, area, null, clock.monotonicMs());
    cells.set(cell.key, made);
    return made;
  };

  return {
    find: (area, name, family) => {
      const slot = name.index * 2 + (family === 4 ? 0 : 1);
      const standing = area.slots[slot] ?? enter(area, name, family);
      if (standing === null) return null;
      area.slots[slot] = standing;
      const nowMs = clock.monotonicMs();
      if (needsDecision(standing.stands, ports.world(), nowMs)) {
        Object.assign(standing, decide(standing.cell, area, standing.region, nowMs));
      }
      return standing;
    },
    brief: (standing) => {
      standing.brief ??= render(standing.decision, standing.cell.family, BRIEF_TTL_SECONDS);
      return standing.brief;
    },
  };
};

const queryOf = (cell: Cell, area: CellArea, id: DecisionId, nowMs: number): Query => ({
  id,
  channel: "dns",
  kind: "cell",
  pool: cell.pool,
  model: cell.model,
  tenant: "default",
  clientSubnet: area.client.subnet,
  conversationId: null,
  pinnedTo: null,
  promptTokens: null,
  outputTokens: null,
  stateRegion: null,
  receivedAtMs: nowMs,
});
