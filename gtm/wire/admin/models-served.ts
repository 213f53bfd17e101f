/** Whether a new conversation of each pool and model would find a region, by the same code that decides for real. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { DecisionId, ModelId } from "#shared/ids.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

export type Served = {
  readonly pool: string;
  readonly model: string;
  /** null: no region. */
  readonly region: string | null;
  /** 0 where some region has it loaded; else how long the chosen one takes to load it. */
  readonly coldStartMs: number;
};

export type Moment = { readonly nowMs: number; readonly id: DecisionId };

export const modelsServed = (world: World, pools: readonly Pool[], policy: Policy, at: Moment): readonly Served[] =>
  pools.flatMap((pool) => pool.models.map((model) => servedIn(pool, model, world, policy, at)));

const servedIn = (pool: Pool, model: ModelId, world: World, policy: Policy, at: Moment): Served => {
  const query = {
    id: at.id,
    channel: "explain",
    kind: "turn",
    pool,
    model,
    tenant: "default",
    clientSubnet: UNKNOWN_CLIENT.subnet,
    conversationId: null,
    pinnedTo: null,
    promptTokens: null,
    outputTokens: null,
    outputLimitTokens: null,
    parentId: null,
    stateRegion: null,
    receivedAtMs: at.nowMs,
  } as const;
  const { verdict, considered } = decisionOf(query, turnOf(query, UNKNOWN_CLIENT, null, world, policy), world, policy);
  const region = regionOf(verdict);
  const chosen = considered.find((one) => one.region === region);
  return { pool: pool.name, model, region, coldStartMs: chosen?.kind === "candidate" ? chosen.cost.coldStartMs : 0 };
};
