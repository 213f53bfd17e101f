/** A region of a scenario: its engines may die and come back empty, or load their model only once somebody asks. */
import type { FleetRegion, Scenario } from "./scenario.ts";
import { createServingRegion, type ServingRegion } from "./serving/serving-region.ts";

export type PlayedRegion = ServingRegion & {
  /** `cold`: the model is on disk. `down`: nothing answers. */
  readonly phase: () => "cold" | "loading" | "up" | "down";
  /** Of the engines that run now. */
  readonly startedAtMs: () => number;
  /** Begins to load what is on disk; nothing where it is loaded. */
  readonly load: (nowMs: number) => void;
};

export const createPlayedRegion = (fleet: FleetRegion, routing: Scenario["routing"], seed: number): PlayedRegion => {
  const begin = (startedAtMs: number, coldStartMs: number): ServingRegion =>
    createServingRegion({
      replicas: fleet.replicas,
      engine: { ...fleet.engine, coldStartMs },
      ...{ routing, seed, startedAtMs },
    });
  let serving = begin(0, 0);
  let isUp = true;
  let isCold = fleet.placement === "cold";
  let startedAtMs = 0;
  let readyAtMs = 0;
  let nowMs = 0;
  const start = (atMs: number, coldStartMs: number): void => {
    serving = begin(atMs, coldStartMs);
    startedAtMs = atMs;
    readyAtMs = atMs + coldStartMs;
    isUp = true;
    isCold = false;
  };
  const load = (atMs: number): void => {
    nowMs = atMs;
    if (isCold && isUp) start(atMs, fleet.engine.coldStartMs);
  };
  return {
    get replicas() {
      return serving.replicas;
    },
    submit: (request, atMs, replica) => {
      load(atMs);
      return serving.submit(request, atMs, replica);
    },
    abort: (id, atMs) => serving.abort(id, atMs),
    advanceTo: (ms) => {
      nowMs = ms;
      return isUp ? serving.advanceTo(ms) : [];
    },
    catchUp: (ms) => {
      nowMs = ms;
      if (isUp) serving.catchUp(ms);
    },
    nextEventAtMs: () => (isUp ? serving.nextEventAtMs() : Number.POSITIVE_INFINITY),
    phase: () => (!isUp ? "down" : isCold ? "cold" : nowMs < readyAtMs ? "loading" : "up"),
    startedAtMs: () => startedAtMs,
    fail: (atMs) => {
      isUp = false;
      return serving.fail(atMs);
    },
    restart: (atMs) => {
      nowMs = atMs;
      if (!isUp) start(atMs, 0);
    },
    load,
  };
};
