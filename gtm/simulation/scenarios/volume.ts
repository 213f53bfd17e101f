/** How much is asked of a fleet: turns a second or users that make up a share of what it could prefill without any cache. */
import { type PrefillSpeed, prefillMs } from "#gtm/domain/serving.ts";
import type { City } from "../cities.ts";
import type { Demand } from "../generator/generator-options.ts";
import type { FleetRegion } from "../scenario.ts";
import type { Traffic } from "../traffic.ts";
import { VISIT, visitTurns } from "../traffic-in-order.ts";

export type Volume =
  /** Share of no-cache prefill capacity, more than 0. */
  { readonly kind: "load"; readonly load: number } | { readonly kind: "users"; readonly users: number };

export type TrafficWish = {
  readonly seed: number;
  readonly cities: readonly City[];
  /** null: all as much as their weights say, at all times. */
  readonly demand: Demand | null;
  readonly arrivals:
    | { readonly kind: "open"; readonly turnsPerSecond: number }
    | { readonly kind: "closed"; readonly users: number };
};

/** Where turns come from: the generator, or a trace. */
export type TrafficSource = {
  /** For people. */
  readonly says: string;
  /** What it is asked of: a large model on many GPUs, or a small one on one. */
  readonly model: "70b" | "8b";
  /** How clients ask where nobody says: by the clock, or after each answer. */
  readonly loop: "open" | "closed";
  /** @throws {RangeError} what this source cannot do */
  readonly create: (wish: TrafficWish) => Traffic;
};

/** Turns that are looked at to know their mean prefill: fewer leave it 2 % from what it is. */
const LOOKED_AT = 20_000;
/** Users and time that tell how often one asks. */
const USERS_LOOKED_AT = 200;
const LOOKED_MS = 1_200_000;
/** Of the traffic that is looked at; another one is played. */
const LOOK_SEED = 0;

type Look = { readonly cities: readonly City[]; readonly fleet: readonly FleetRegion[] };

/** Turns a second that are this share of what the fleet's replicas can prefill together without any cache. */
export const turnsPerSecondOf = (source: TrafficSource, load: number, { cities, fleet }: Look): number => {
  const lengths = new Map<number, number>();
  const arrivals =
    source.loop === "open"
      ? ({ kind: "open", turnsPerSecond: 1 } as const)
      : ({ kind: "closed", users: USERS_LOOKED_AT } as const);
  const traffic = source.create({ seed: LOOK_SEED, cities, demand: null, arrivals });
  let count = 0;
  visitTurns(traffic, { ...VISIT, mostTurns: LOOKED_AT }, ({ promptTokens }) => {
    count += 1;
    lengths.set(promptTokens, (lengths.get(promptTokens) ?? 0) + 1);
  });
  if (count === 0) throw new RangeError("a traffic without turns has no load");
  const turnMs = (speed: PrefillSpeed): number => {
    let sumMs = 0;
    for (const [tokens, times] of lengths) sumMs += times * prefillMs(speed, tokens, tokens);
    return sumMs / count;
  };
  const perSecond = fleet.map(({ engine, replicas }) => (replicas * 1_000) / turnMs(engine.speed));
  return load * perSecond.reduce((sum, one) => sum + one, 0);
};

/** So many users ask so often in a closed loop, if answers take ten seconds. */
export const usersOf = (source: TrafficSource, turnsPerSecond: number, cities: readonly City[]): number => {
  const arrivals = { kind: "closed", users: USERS_LOOKED_AT } as const;
  const traffic = source.create({ seed: LOOK_SEED, cities, demand: null, arrivals });
  let turns = 0;
  visitTurns(traffic, { ...VISIT, untilMs: LOOKED_MS, mostTurns: Number.POSITIVE_INFINITY }, () => {
    turns += 1;
  });
  const perUserSecond = turns / USERS_LOOKED_AT / (LOOKED_MS / 1_000);
  return Math.max(1, Math.round(turnsPerSecond / perUserSecond));
};
