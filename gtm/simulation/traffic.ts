/** What clients will ask: the one form that traces, recorded decisions and the generator all come in. */
import type { City } from "./cities.ts";
import type { BlockHashes } from "./serving/prefix-cache.ts";

/** A turn as its client will ask it, whatever serves it. */
export type PlannedTurn = {
  /** Number of its conversation, unique in the traffic. */
  readonly conversation: number;
  /** The conversation that this one began from, as an agent's task does; null: from nothing. */
  readonly parent: number | null;
  /** From 1. */
  readonly turn: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Chained hashes of the full blocks of prompt and answer; may grow with the conversation and be shared by its turns. */
  readonly blocks: BlockHashes;
  /** `at`: at that time, answered before or not (an open loop). `after`: so long after the answer before, or after the client's start (a closed loop). */
  readonly asks: { readonly kind: "at"; readonly ms: number } | { readonly kind: "after"; readonly thinkMs: number };
};

export type Client = {
  readonly city: City;
  /** From the client's home to the net, ms. */
  readonly lastMileMs: number;
  /** No earlier than that of the client before it. */
  readonly startsAtMs: number;
  /** The next turn; null: it asks no more. Called once the turn before has been asked. */
  readonly next: () => PlannedTurn | null;
};

export type Traffic = {
  /** How many tokens one block hash stands for. */
  readonly blockTokens: number;
  /** In the order of their starts, made when their time comes, so that memory does not grow with the length. */
  readonly clients: () => Iterator<Client>;
};
