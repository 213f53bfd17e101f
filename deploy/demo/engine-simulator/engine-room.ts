/** The engine model in real time: timers let the same milliseconds pass in it that pass on the clock. */
import type { EngineRequest, ServingEvent } from "#gtm/simulation/serving/request.ts";
import { createServingRegion, type RegionEvent, type ServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import type { EngineSimulatorOptions } from "./options.ts";

/** What a request is told: what happened to it, and, while it decodes, how many tokens are written. */
export type Progress = ServingEvent | { readonly kind: "tokens"; readonly outputTokens: number };
export type Listener = (progress: Progress) => void;

export type EngineRoom = {
  readonly region: ServingRegion;
  /** @param replica null: the router chooses @returns index of the replica that takes it */
  readonly submit: (request: EngineRequest, listener: Listener, replica: number | null) => number;
  /** Nothing happens if the request has ended. */
  readonly abort: (id: number) => void;
  /** Lets the model catch up with the clock. */
  readonly catchUp: () => void;
  readonly close: () => void;
};

/** How often answers that are being written are looked at; below the usual gap between two tokens. */
const TICK_MS = 20;

export type RoomOptions = Pick<EngineSimulatorOptions, "replicas" | "engine" | "routing" | "seed" | "clock"> & {
  readonly onEvent: (event: RegionEvent) => void;
  readonly onTick: (region: ServingRegion) => void;
};

export const createEngineRoom = (options: RoomOptions): EngineRoom => {
  const { clock } = options;
  // The weights are loaded by the time this program listens, as with the engines it stands for.
  const engine = { ...options.engine, coldStartMs: 0 };
  const region = createServingRegion({ ...options, engine, startedAtMs: clock.monotonicMs() });
  const listeners = new Map<number, Listener>();
  let timer: NodeJS.Timeout | null = null;
  let decoding = 0;
  let isCatchingUp = false;
  let isClosed = false;

  const tell = (happened: RegionEvent): void => {
    const { event } = happened;
    if (event.kind === "first-token") decoding += 1;
    if (event.kind === "finished" && event.firstTokenAtMs !== null) decoding -= 1;
    listeners.get(event.request.id)?.(event);
    if (event.kind === "finished") listeners.delete(event.request.id);
    options.onEvent(happened);
  };
  const catchUp = (): void => {
    // Whoever is told may submit, which is seen in the next round.
    if (isClosed || isCatchingUp) return;
    isCatchingUp = true;
    try {
      let events = region.advanceTo(clock.monotonicMs());
      for (; events.length > 0; events = region.advanceTo(clock.monotonicMs())) for (const event of events) tell(event);
    } finally {
      isCatchingUp = false;
      schedule();
    }
  };
  const tick = (): void => {
    catchUp();
    for (const replica of region.replicas) {
      replica.eachDecoding(({ id }, outputTokens) => listeners.get(id)?.({ kind: "tokens", outputTokens }));
    }
    options.onTick(region);
  };
  const schedule = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const inMs = region.nextEventAtMs() - clock.monotonicMs();
    if (isClosed || inMs === Number.POSITIVE_INFINITY) return;
    // Rounded up: a timer that fires a fraction early would find nothing to do.
    const waitMs = Math.max(0, Math.ceil(inMs));
    timer = setTimeout(tick, decoding > 0 ? Math.min(TICK_MS, waitMs) : waitMs);
  };

  return {
    region,
    submit: (request, listener, replica) => {
      const taker = region.submit(request, clock.monotonicMs(), replica);
      listeners.set(request.id, listener);
      catchUp();
      return taker;
    },
    abort: (id) => {
      if (isClosed || !listeners.has(id)) return;
      region.abort(id, clock.monotonicMs());
      catchUp();
    },
    catchUp,
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
};
