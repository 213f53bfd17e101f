/** From a request to the query that steering answers: model, conversation, tenant, client network, size. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Query } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Labels } from "#shared/pin-token.ts";
import type { Arrival } from "./arrival.ts";
import type { Scanned } from "./body-scan.ts";
import { longestContext } from "./context-limit.ts";
import { headerIn } from "./headers.ts";
import { type Asked, createIdentify, type Identity } from "./identity.ts";
import type { Said } from "./identity-source.ts";
import type { Peers } from "./peers.ts";
import { createPoolChooser, type PoolChoice } from "./pool-choice.ts";
import { outputLimitTokensOf, outputTokensOf, promptTokensOf, type SeenBody } from "./prompt.ts";
import { type FindResponse, responseIdentity, stateIn } from "./state.ts";
import type { SteerWish } from "./steer-wish.ts";
import { createTenantOf } from "./tenant.ts";

export type Question =
  | {
      readonly kind: "asked";
      readonly query: Query;
      readonly identity: Identity;
      /** The pool's path that it came by, such as "/v1". */
      readonly prefix: string;
    }
  | { readonly kind: "unknown-model"; readonly model: string }
  /** No model is named, and this host has no default pool. */
  | { readonly kind: "no-model" }
  /** Model or conversation may be named in the body, which has not been read. */
  | { readonly kind: "unread" };

/** A promise only where the store has to be asked. */
export type Ask = (
  incoming: IncomingMessage,
  arrival: Arrival,
  body: SeenBody,
  /** Of a client that asks where its turn would go; null: this is the turn. */
  wish?: SteerWish | null,
) => Promise<Question> | Question;

export type AskRules = {
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  /** Every configured region. */
  readonly regions: readonly RegionId[];
  readonly labels: Labels;
  readonly identityOrder: readonly IdentitySource[];
  readonly pinHintMs: number;
  readonly peers: Pick<Peers, "of">;
  /** In lower case; null: none. */
  readonly tenantHeader: string | null;
  readonly world: () => World;
  readonly newId: () => DecisionId;
  readonly clock: Clock;
  readonly findResponse: FindResponse;
};

export const MODEL_MEMBER = "model";
const MODEL_HEADER = "x-gtm-model";

export const createAsk = (rules: AskRules): Ask => {
  const { clock, labels, newId, tenantHeader, pinHintMs, regions, world, findResponse } = rules;
  const choosePool = createPoolChooser(rules.pools, rules.models);
  const identify = createIdentify({ labels, order: rules.identityOrder, regions, pinHintMs });
  const tenantOf = createTenantOf(labels);

  type Request = {
    readonly incoming: IncomingMessage;
    readonly arrival: Arrival;
    readonly body: SeenBody;
    readonly wish: SteerWish | null;
  };

  const questionOf = (
    { incoming, arrival, body, wish }: Request,
    said: Said,
    at: Chosen,
    state: Asked["state"],
  ): Question => {
    const { headers } = incoming;
    const peer = rules.peers.of(incoming.socket);
    const tenant = tenantOf(headers, peer.isTrusted ? tenantHeader : null);
    const { hostLabel } = arrival;
    const named = wish?.conversation ?? null;
    const identity = identify({ ...said, named, tenant, hostLabel, state, nowEpochMs: clock.epochMs() });
    if (identity === null) return { kind: "unread" };

    const { pool, prefix } = at.at;
    const { conversationId, pinnedTo, parentId } = identity;
    const longest = longestContext(world(), pool, at.model);
    const query: Query = {
      id: newId(),
      channel: "http",
      kind: "turn",
      pool,
      model: at.model,
      tenant,
      clientSubnet: peer.clientSubnet(headerIn(headers, "x-forwarded-for")),
      conversationId,
      pinnedTo,
      promptTokens:
        wish?.promptTokens ?? promptTokensOf(headers, body, conversationId !== null || wish !== null, longest),
      outputTokens: outputTokensOf(headers),
      outputLimitTokens: wish?.outputLimitTokens ?? outputLimitTokensOf(body),
      parentId,
      // Where regions share what is stored, any of them can go on from it.
      stateRegion: state === null || typeof state === "string" || pool.sharesResponses ? null : state.region,
      receivedAtMs: clock.monotonicMs(),
    };
    return { kind: "asked", query, identity, prefix };
  };

  return (incoming, arrival, body, wish = null) => {
    const { isRead, scanned } = body;
    const model = wish?.model ?? headerIn(incoming.headers, MODEL_HEADER) ?? modelIn(body);
    if (model === null && !isRead) return { kind: "unread" };
    const choice = choosePool(arrival.pools, arrival.isDefault, model);
    if (choice.kind !== "chosen") return choice;

    const { path, query } = arrival.target;
    const said: Said = { headers: incoming.headers, query, isBodyRead: isRead, scanned };
    const request = { incoming, arrival, body, wish };
    const state = stateIn(path, said);
    // A region that the body may name cannot be told without it.
    if (state === "unread") return { kind: "unread" };
    if (state === null || state === "too-long") return questionOf(request, said, choice, state);
    return findResponse(responseIdentity(labels, state.id)).then((found) =>
      questionOf(request, said, choice, { ...state, ...(found ?? NOWHERE) }),
    );
  };
};

/** Whether the model is known already, while the body is still coming. */
export const isModelNamed = (headers: IncomingHttpHeaders, scanned: Scanned | null): boolean =>
  headerIn(headers, MODEL_HEADER) !== null || typeof scanned?.values.get(MODEL_MEMBER) === "string";

type Chosen = Extract<PoolChoice, { kind: "chosen" }>;

const NOWHERE = { region: null, conversation: null };

const modelIn = ({ scanned }: SeenBody): string | null => {
  const model = scanned?.values.get(MODEL_MEMBER);
  return typeof model === "string" && model !== "" ? model : null;
};
