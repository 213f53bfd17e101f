/** Looks at the region's engines now and then: which models they serve, whether they are there, since when. By the agent's own eyes. */

import type { Clock } from "#shared/clock.ts";
import { createConnections } from "../connections.ts";
import { type Endpoint, learn, newEndpoint } from "../endpoint.ts";
import { PLAIN } from "../engines/wording.ts";
import { createFetchText } from "../fetch-text.ts";
import { readEngine } from "../read-answers.ts";
import { scrapeEngine } from "../scrape-engine.ts";
import type { EnginePlace } from "./replica-facts.ts";

export type EngineTarget = {
  readonly origin: string;
  /** `host:port`, as replicas' ids begin. */
  readonly address: string;
  /** For `/v1/models`; null: none. */
  readonly apiKey: string | null;
  /** An engine's name, or `auto`. */
  readonly engine: string;
  readonly slots: number | null;
  /** Others choose the replica behind it. */
  readonly isRouter: boolean;
};

export type ReplicaScrape = {
  /** Resolves once the first look has ended, well or not. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** An engine that dies is noticed by the turns that fail there; what is looked for here is what turns do not show. */
const EVERY_MS = 2_000;
const DEADLINE_MS = 1_500;

export const createReplicaScrape = (
  targets: readonly EngineTarget[],
  clock: Clock,
  onPlaces: (places: readonly EnginePlace[]) => void,
): ReplicaScrape => {
  const connections = createConnections();
  const fetchText = createFetchText(connections, DEADLINE_MS);
  const doors = targets.map(({ apiKey }) => ({
    fetch: (url: string, { isGuarded, ...how }: { accept: string; isGuarded: boolean; signal: AbortSignal }) =>
      fetchText(url, { ...how, bearer: isGuarded ? apiKey : null }),
    faults: () => [],
    close: async () => {},
  }));
  const stopping = new AbortController();
  let endpoints: readonly Endpoint[] = targets.map(({ address }) => newEndpoint(address));
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(DEADLINE_MS)]);
    const seen = await Promise.all(
      targets.map(async ({ origin, address, engine }, at) => {
        const endpoint = endpoints[at] ?? newEndpoint(address);
        const door = doors[at];
        if (door === undefined) return endpoint;
        const answers = await scrapeEngine({ address, url: origin, wish: engine, door }, endpoint, { clock, signal });
        return learn(endpoint, readEngine(answers, endpoint, { ...PLAIN, wish: engine }));
      }),
    );
    if (stopping.signal.aborted) return;
    endpoints = seen;
    onPlaces(
      targets.flatMap(({ origin, slots, isRouter }, at) => {
        const endpoint = endpoints[at];
        return endpoint === undefined ? [] : [{ origin, slots, isRouter, endpoint }];
      }),
    );
    timer = setTimeout(() => {
      looking = look();
    }, EVERY_MS);
    timer.unref();
  };
  return {
    start: () => {
      looking = look();
      return looking;
    },
    stop: async () => {
      stopping.abort();
      if (timer !== null) clearTimeout(timer);
      await looking;
      connections.destroy();
    },
  };
};
