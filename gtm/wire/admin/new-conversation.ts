/** Where a new conversation of a pool would go now, of nobody in particular and of unknown length, and why. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import { exclusionClause } from "#gtm/steering/exclusion-text.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { ModelId } from "#shared/ids.ts";
import type { Moment } from "./models-served.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

export type NewConversation = {
  readonly name: string;
  /** null: nowhere. */
  readonly region: string | null;
  /** Of the pool's own regions, why each may not; "": somebody may. */
  readonly why: string;
};

type Inputs = { readonly world: World; readonly policy: Policy; readonly at: Moment };

export const newConversationOf = (pool: Pool, model: ModelId, { world, policy, at }: Inputs): NewConversation => {
  const query: Query = {
    ...{ id: at.id, channel: "explain", kind: "turn", pool, model, tenant: "default" },
    ...{ clientSubnet: UNKNOWN_CLIENT.subnet, conversationId: null, parentId: null, pinnedTo: null },
    ...{ promptTokens: null, outputTokens: null, outputLimitTokens: null, stateRegion: null },
    receivedAtMs: at.nowMs,
  };
  const turn = turnOf(query, UNKNOWN_CLIENT, null, world, policy);
  const { verdict, considered } = decisionOf(query, turn, world, policy);
  const region = regionOf(verdict);
  const members = considered.filter((one) => pool.regions.includes(one.region));
  const why = members.flatMap((one) =>
    one.kind === "excluded" ? [`${one.region} ${exclusionClause(one.exclusion)}`] : [],
  );
  return { name: pool.name, region, why: region === null ? why.join(", ") : "" };
};
