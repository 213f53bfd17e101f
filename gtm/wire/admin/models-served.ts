/** Which regions a new conversation of each pool and model would find, by the same code that decides for real. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import { isShare } from "#gtm/steering/overrides.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { DecisionId, ModelId } from "#shared/ids.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

export type Served = {
  readonly pool: string;
  readonly model: string;
  readonly tenant: string;
  /** Those that take it. One that would have to load the model counts where none has it loaded. */
  readonly regions: readonly string[];
  /** null: no region. */
  readonly region: string | null;
  /** 0 where some region has it loaded; else how long the chosen one takes to load it. */
  readonly coldStartMs: number;
};

export type Moment = { readonly nowMs: number; readonly id: DecisionId };

/** Whose new conversations they are: a tenant that an override names may find others than the rest. */
export const EVERYBODY = "default";

/** @param at `tenants`: whose conversations are looked at; absent: everybody's */
export const modelsServed = (
  world: World,
  pools: readonly Pool[],
  policy: Policy,
  { tenants = [EVERYBODY], ...at }: Moment & { readonly tenants?: readonly string[] },
): readonly Served[] =>
  tenants.flatMap((tenant) =>
    pools.flatMap((pool) => pool.models.map((model) => servedIn({ pool, model, tenant }, world, policy, at))),
  );

type Wanted = { readonly pool: Pool; readonly model: ModelId; readonly tenant: string };

const servedIn = (wanted: Wanted, world: World, policy: Policy, at: Moment): Served => {
  const [open, shared] = [sharesAs(1, world), sharesAs(0, world)];
  const { pool, model, tenant } = wanted;
  const { regions, region } = foundIn(wanted, open, policy, at);
  // What a share leaves to others may have to load the model there.
  const { coldStartMs } = foundIn(wanted, shared, policy, at);
  return { pool: pool.name, model, tenant, regions, region, coldStartMs };
};

/** A share takes no region away, since it yields: whoever counts regions takes all of it, whoever looks at its others none. */
const sharesAs = (share: number, world: World): World =>
  world.overrides.some(isShare)
    ? {
        ...world,
        overrides: world.overrides.map((rule) => (isShare(rule) && rule.share < 1 ? { ...rule, share } : rule)),
      }
    : world;

const foundIn = ({ pool, model, tenant }: Wanted, world: World, policy: Policy, at: Moment) => {
  const query = {
    id: at.id,
    channel: "explain",
    kind: "turn",
    pool,
    model,
    tenant,
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
  const candidates = considered.flatMap((one) => (one.kind === "candidate" ? [one] : []));
  const chosen = candidates.find((one) => one.region === region);
  return {
    // Before anything is heard of any region, the one that is answered with is the one that there is.
    regions: candidates.length === 0 && region !== null ? [region] : candidates.map((one) => one.region),
    region,
    coldStartMs: chosen?.cost.coldStartMs ?? 0,
  };
};
