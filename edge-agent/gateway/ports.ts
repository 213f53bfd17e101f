/** What forwarding a turn needs of those who know the region's replicas: which one, and somebody who watches it go by. */
import type { IncomingHttpHeaders } from "node:http";
import type { ConversationId, ModelId, PoolName, ReplicaId } from "#shared/ids.ts";

/** One request, as far as the gateway knows it before an engine has seen it. */
export type Turn = {
  /** null: the request names none. */
  readonly model: ModelId | null;
  /** null: nothing says which it is; it is served without memory. */
  readonly conversation: ConversationId | null;
  /** With whose context it begins, by the ticket; null: nobody's. */
  readonly parent: ConversationId | null;
  readonly pool: PoolName | null;
  /** Truncated SHA-256 of the tenant, 0 to 65 535; null: not known here. */
  readonly tenantTag: number | null;
  /** What the front counted, else octets of the body ÷ 4. */
  readonly promptTokens: number;
  /** Expected; null: the engine's own limit. */
  readonly outputTokens: number | null;
  /** CIDR, /24 or /48; null: not known, as behind a balancer that does not say. */
  readonly clientPrefix: string | null;
  /** Of that network, from TLS handshakes; null: too few samples. */
  readonly rttMs: number | null;
  readonly predictedTtftMs: number | null;
  /** The GTM's decision that led here. */
  readonly decision: string | null;
  /** Without query, such as `/v1/chat/completions`. */
  readonly path: string;
  /** On the process's monotonic clock: when the request's headers were there. */
  readonly receivedAtMs: number;
};

/** How a turn ended: `served` to its end, `aborted` by the client, `failed` by the engine or on the way to it. */
export type TurnOutcome = "served" | "refused" | "aborted" | "failed";

/** Sees one attempt pass by. Never throws, and keeps nothing of the octets: they are reused. `end` comes exactly once, also without a head. */
export type Watch = {
  /** The engine's answer began. */
  readonly head: (status: number, headers: IncomingHttpHeaders) => void;
  /** A part of its body, as the engine sent it (compressed, where it is). */
  readonly chunk: (octets: Uint8Array) => void;
  /** What has to be done before the client gets what was seen last, such as telling where its response lies; null: nothing. */
  readonly before: () => Promise<void> | null;
  readonly end: (outcome: TurnOutcome) => void;
};

export type Choice = {
  readonly kind: "chosen";
  readonly replica: ReplicaId;
  /** The engine's, or the region's own router's: scheme, host and port. */
  readonly origin: string;
  /** For the engine, beside the client's own, such as a data-parallel rank. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly follow: Watch;
};

export type RefusalReason = "model-gone" | "queue" | "draining";
export type Refusal = {
  readonly kind: "refused";
  readonly reason: RefusalReason;
  /** When it may be worth to ask again; more than 0. */
  readonly retryAfterMs: number;
};

export type Replicas = {
  /** @param not replicas that failed this turn already */
  readonly choose: (turn: Turn, not: ReadonlySet<ReplicaId>) => Choice | Refusal;
  /** How many of the region's engines answer, as far as known; 0: the gateway is not healthy. */
  readonly answering: () => number;
  /** Resolves once the first look at the engines has ended, well or not. */
  readonly start: () => Promise<void>;
  /** What has been measured goes to the store, if it is there. */
  readonly stop: () => Promise<void>;
};
