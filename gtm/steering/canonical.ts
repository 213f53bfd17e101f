/** Questions that every GTM asks itself, so that they can compare their answers: each pool, from each region's own place. */
import type { Client } from "#gtm/domain/client.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Location } from "#gtm/domain/topology.ts";
import type { World } from "#gtm/domain/world.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Policy } from "./policy.ts";
import type { Query } from "./ports.ts";
import { decisionOf } from "./steer.ts";
import { turnOf } from "./turn.ts";

export type CanonicalAnswer = {
  /** "pool from region". */
  readonly question: string;
  /** null: no region serves. */
  readonly region: RegionId | null;
};

/** One a second of each: about a millisecond of work. */
export const MOST_QUESTIONS = 64;

/**
 * New conversations with fixed names, each alike on every GTM whose configuration is the same; of more than `MOST_QUESTIONS`
 * every n-th is asked. Pure: the same world, the same answers.
 */
export const canonicalAnswers = (pools: readonly Pool[], world: World, policy: Policy): readonly CanonicalAnswer[] => {
  const all = pools.flatMap((pool) =>
    world.regions.flatMap(({ id, location }) => (location === null ? [] : [{ pool, from: id, location }])),
  );
  const step = Math.max(1, Math.ceil(all.length / MOST_QUESTIONS));
  return all
    .filter((_, at) => at % step === 0)
    .map(({ pool, from, location }) => {
      const question = `${pool.name} from ${from}`;
      return { question, region: answerOf(question, pool, clientAt(location), world, policy) };
    });
};

const answerOf = (question: string, pool: Pool, client: Client, world: World, policy: Policy): RegionId | null => {
  const query: Query = {
    channel: "explain",
    kind: "turn",
    ...{ id: NO_DECISION, pool, model: null, tenant: "default" },
    ...{ clientSubnet: client.subnet, conversationId: null, pinnedTo: null, promptTokens: PROMPT_TOKENS },
    ...{
      outputTokens: null,
      outputLimitTokens: null,
      parentId: null,
      stateRegion: null,
      receivedAtMs: world.takenAtMs,
    },
  };
  const turn = { ...turnOf(query, client, null, world, policy), hashKey: question };
  return regionOf(decisionOf(query, turn, world, policy).verdict);
};

const PROMPT_TOKENS = 1_000;
/** It is recorded nowhere. */
const NO_DECISION = "0".repeat(26) as DecisionId;

const clientAt = (location: Location): Client => ({
  subnet: "192.0.2.0/24",
  location,
  area: null,
  place: null,
  source: "static",
  scopePrefixBits: 0,
});
