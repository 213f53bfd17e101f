/** What this GTM answers where names alone lead: a decision for each city's cell, as gtm/wire/dns/cells.ts asks for it. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import { cellOf, createCellSteer, type DecidedCell, needsDecision } from "#gtm/steering/cell.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Arena, Contender } from "./rival.ts";
import { cellQueryOf, clientOf } from "./simulated-query.ts";

export type DnsSteeredOptions = {
  readonly policy: Policy;
  readonly pool: Pool;
  readonly world: () => World;
  readonly cellSteer?: typeof createCellSteer;
  readonly onAnswer?: (answered: Answered) => void;
};

/** A cell's answer from then on. */
export type Answered = { readonly atMs: number; readonly cell: string; readonly region: number };

type Standing = DecidedCell & { readonly region: RegionId | null; readonly ttlSeconds: number };

export const createDnsSteered = (arena: Arena, options: DnsSteeredOptions): NonNullable<Contender["resolve"]> => {
  const { agenda, scenario } = arena;
  const { policy, pool, world, cellSteer = createCellSteer, onAnswer = () => undefined } = options;
  const decideCell = cellSteer({ world }, policy);
  const standing = new Map<string, Standing>();
  const indices = new Map(scenario.fleet.map(({ site }, index) => [site.id, index]));
  let decisions = 0;
  return (city) => {
    const client = clientOf(city);
    const cell = cellOf(pool, client, 4);
    const last = standing.get(cell.key) ?? null;
    const now = world();
    const nowMs = agenda.nowMs();
    if (last !== null && !needsDecision(last, now, now.takenAtMs)) return answerOf(last, indices);
    decisions += 1;
    const decision = decideCell(cellQueryOf(cell, decisions, nowMs), client, cell, last?.region ?? null);
    const region = regionOf(decision.verdict);
    const made: Standing = {
      decidedAtMs: Math.trunc(now.takenAtMs),
      worldVersion: now.version,
      candidacyVersion: now.candidacyVersion,
      region,
      ttlSeconds: decision.ttlSeconds,
    };
    standing.set(cell.key, made);
    const answer = answerOf(made, indices);
    if (answer !== null && region !== last?.region) onAnswer({ atMs: nowMs, cell: city.name, region: answer.region });
    return answer;
  };
};

const answerOf = ({ region, ttlSeconds }: Standing, indices: ReadonlyMap<RegionId, number>) => {
  const index = region === null ? undefined : indices.get(region);
  return index === undefined ? null : { region: index, ttlMs: ttlSeconds * 1_000 };
};
