/** What is asked of the generator. */
import type { City } from "../cities.ts";

export type TrafficKind = "chat" | "agents" | "retrieval";

export type GeneratorOptions = {
  readonly seed: number;
  /** Where clients live, by weight. */
  readonly cities: readonly City[];
  readonly arrivals:
    | { readonly kind: "open"; readonly turnsPerSecond: number; readonly demand: Demand | null }
    /** So many clients, who begin another conversation after each. */
    | { readonly kind: "closed"; readonly users: number };
  /** null: the kind's own, 512. */
  readonly blockTokens: number | null;
  /** Where a conversation ends at the latest, tokens of prompt; null: the kind's own. */
  readonly longestPromptTokens: number | null;
};

/** How much a city asks at a time, as a multiple of its weight; 0 or more. */
export type Demand = (city: City, atMs: number) => number;
