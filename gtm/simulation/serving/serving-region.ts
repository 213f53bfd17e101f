/** A region's replicas behind one door: a router in front, events of all of them in the order of time. */
import { createDice } from "../dice.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { LostRequest } from "./loss.ts";
import { createReplica, type Replica } from "./replica.ts";
import type { EngineRequest, ServingEvent } from "./request.ts";
import { createRouter, type Routing } from "./router.ts";

export type ServingRegionOptions = {
  readonly replicas: number;
  readonly engine: EngineOptions;
  readonly routing: Routing;
  readonly seed: number;
  readonly startedAtMs: number;
};

export type RegionEvent = { readonly replica: number; readonly event: ServingEvent };

export type ServingRegion = {
  readonly replicas: readonly Replica[];
  /** @param replica null: the router chooses @returns index of the replica that takes it */
  readonly submit: (request: EngineRequest, atMs: number, replica: number | null) => number;
  readonly abort: (id: number, atMs: number) => boolean;
  /** What has happened since the last call, up to and including `ms`, in order. */
  readonly advanceTo: (ms: number) => readonly RegionEvent[];
  /** Lets time pass for who looks at the replicas; what happens meanwhile the next `advanceTo` tells. */
  readonly catchUp: (ms: number) => void;
  readonly nextEventAtMs: () => number;
  /** All its replicas die: nothing is cached any more, and no request taken. @returns what was under way, and is lost */
  readonly fail: (atMs: number) => readonly LostRequest[];
  /** They begin anew, ready after their cold start; their counts go on. */
  readonly restart: (atMs: number) => void;
};

export const createServingRegion = (options: ServingRegionOptions): ServingRegion => {
  const replicas = Array.from({ length: options.replicas }, () => createReplica(options.engine, options.startedAtMs));
  const route = createRouter(options.routing, createDice(options.seed));
  const catchUp = (ms: number): void => {
    for (const replica of replicas) replica.catchUp(ms);
  };

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
      let events: RegionEvent[] | null = null;
      let told = 0;
      for (let replica = 0; replica < replicas.length; replica++) {
        const since = replicas[replica]?.advanceTo(ms) ?? NOTHING;
        if (since.length === 0) continue;
        told += 1;
        events ??= [];
        for (const event of since) events.push({ replica, event });
      }
      if (events === null) return NOTHING;
      return told > 1 ? inOrder(events) : events;
    },
    catchUp,
    nextEventAtMs: () => {
      let nextMs = Number.POSITIVE_INFINITY;
      for (const replica of replicas) nextMs = Math.min(nextMs, replica.nextEventAtMs());
      return nextMs;
    },
    fail: (atMs) => replicas.flatMap((replica) => replica.fail(atMs)),
    restart: (atMs) => {
      for (const replica of replicas) replica.restart(atMs);
    },
  };
};

const NOTHING: readonly never[] = [];

/** Stable: events of one replica keep their order, at the same moment the lower replica comes first. */
const inOrder = (events: RegionEvent[]): RegionEvent[] => events.sort((a, b) => a.event.atMs - b.event.atMs);
