/** What is to be forwarded, and where: the decision's part of it. */
import type { Verdict } from "#gtm/domain/decision.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Pin } from "./reply.ts";

export type ForwardTarget = {
  readonly region: RegionId;
  /** The region's `endpoint.url`. */
  readonly origin: string;
  /** null: no conversation. */
  readonly pin: Pin | null;
  /** Milliseconds until the first token; null: nothing is known. */
  readonly predictedTtftMs: number | null;
  /** As received; for a gateway with a ticket that says what was decided. Made when it is needed: a ticket is good for 15 s. */
  readonly pathAndQuery: () => Promise<string | null>;
};

export type ForwardOrder = {
  /** The decision's region, then others that could serve; at least one. */
  readonly targets: readonly ForwardTarget[];
  readonly decisionId: DecisionId;
  readonly verdict: Verdict["kind"];
  /** Without query: it says which API is spoken. */
  readonly path: string;
  /** From the question to its decision, milliseconds. */
  readonly steeredMs: number;
};
