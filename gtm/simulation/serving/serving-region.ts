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
  readonly advanceTo: (ms: number) => readonly RegionEvent[];
  readonly nextEventAtMs: () => number;
  /** All its replicas die. @returns what was under way */
  readonly fail: (atMs: number) => readonly LostRequest[];
  /** They begin anew and empty. */
  readonly restart: (atMs: number) => void;
};

export const createServingRegion = (options: ServingRegionOptions): ServingRegion => {
  const replicas = Array.from({ length: options.replicas }, () => createReplica(options.engine, options.startedAtMs));
  const route = createRouter(options.routing, createDice(options.seed));
  /** Events that happened while the replicas were brought up to the time of a submission. */
  let early: RegionEvent[] = [];
  const collect = (ms: number): RegionEvent[] => {
    const events: RegionEvent[] = [];
    let told = 0;
    for (const [replica, one] of replicas.entries()) {
      const since = one.advanceTo(ms);
      if (since.length > 0) told += 1;
      for (const event of since) events.push({ replica, event });
    }
    return told > 1 ? inOrder(events) : events;
  };

  return {
    replicas,
    submit: (request, atMs, replica) => {
      early.push(...collect(atMs));
      const index = replica ?? route(request, replicas);
      const taker = replicas[index];
      if (taker === undefined) throw new RangeError(`there is no replica ${index}`);
      taker.submit(request, atMs);
      return index;
    },
    abort: (id, atMs) => replicas.some((replica) => replica.abort(id, atMs)),
    advanceTo: (ms) => {
      const events = collect(ms);
      if (early.length === 0) return events;
      const all = [...early, ...events];
      early = [];
      return all;
    },
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

/** Stable: events of one replica keep their order, at the same moment the lower replica comes first. */
const inOrder = (events: RegionEvent[]): RegionEvent[] => events.sort((a, b) => a.event.atMs - b.event.atMs);
