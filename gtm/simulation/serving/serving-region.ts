/** A region's replicas behind one door: a router in front, events of all of them in the order of time. */
import { createDice } from "../dice.ts";
import type { EngineOptions } from "./engine-options.ts";
import { createReplica, type Replica } from "./replica.ts";
import type { EngineRequest, ServingEvent } from "./request.ts";
import { createAffinity, createRoundRobin } from "./router.ts";

export type ServingRegionOptions = {
  readonly replicas: number;
  readonly engine: EngineOptions;
  readonly routing: "affinity" | "round-robin";
  readonly seed: number;
  readonly startedAtMs: number;
};

export type RegionEvent = { readonly replica: number; readonly event: ServingEvent };

export type ServingRegion = {
  readonly replicas: readonly Replica[];
  /** @param replica null: the router chooses @returns index of the replica that takes it */
  readonly submit: (request: EngineRequest, atMs: number, replica: number | null) => number;
  readonly abort: (id: number, atMs: number) => boolean;
  readonly advanceTo: (ms: number) => readonly RegionEvent[];
  /** Lets time pass for who looks at the replicas; what happens meanwhile the next `advanceTo` tells. */
  readonly catchUp: (ms: number) => void;
  readonly nextEventAtMs: () => number;
};

export const createServingRegion = (options: ServingRegionOptions): ServingRegion => {
  const replicas = Array.from({ length: options.replicas }, () => createReplica(options.engine, options.startedAtMs));
  const route = options.routing === "affinity" ? createAffinity(createDice(options.seed)) : createRoundRobin();
  /** Events that happened while the replicas were brought up to the time of a submission. */
  let early: RegionEvent[] = [];
  const collect = (ms: number): RegionEvent[] =>
    replicas.flatMap((replica, index) => replica.advanceTo(ms).map((event) => ({ replica: index, event })));
  const catchUp = (ms: number): void => void early.push(...inOrder(collect(ms)));

  return {
    replicas,
    submit: (request, atMs, replica) => {
      catchUp(atMs);
      const index = replica ?? route(request, replicas);
      const taker = replicas[index];
      if (taker === undefined) throw new RangeError(`there is no replica ${index}`);
      taker.submit(request, atMs);
      return index;
    },
    abort: (id, atMs) => replicas.some((replica) => replica.abort(id, atMs)),
    advanceTo: (ms) => {
      const events = [...early, ...inOrder(collect(ms))];
      early = [];
      return events;
    },
    catchUp,
    nextEventAtMs: () => Math.min(...replicas.map((replica) => replica.nextEventAtMs())),
  };
};

/** Stable: events of one replica keep their order, at the same moment the lower replica comes first. */
const inOrder = (events: RegionEvent[]): RegionEvent[] => events.sort((a, b) => a.event.atMs - b.event.atMs);
