/** Looks at the region's engines now and then: which models they serve, whether they are there, since when. By the agent's own eyes. */
import type { Clock } from "#shared/clock.ts";
import { type Endpoint, learn, newEndpoint } from "../endpoint.ts";
import { createDispatcher, createFetchText } from "../fetch-text.ts";
import { readEngine } from "../read-answers.ts";
import { createScrape } from "../scrape.ts";
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
  const dispatcher = createDispatcher();
  const fetchText = createFetchText(dispatcher, DEADLINE_MS);
  const runCommand = () => Promise.reject(new Error("a gateway looks at no GPU"));
  const engines = targets.map(({ origin, apiKey }) => ({ url: origin, apiKey }));
  const { scrapeEngines } = createScrape({ engines, gpus: null }, { fetchText, runCommand, clock });
  const stopping = new AbortController();
  let endpoints: readonly Endpoint[] = targets.map(({ address }) => newEndpoint(address));
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const answers = await scrapeEngines(stopping.signal);
    if (stopping.signal.aborted) return;
    endpoints = endpoints.map((endpoint, at) => {
      const answer = answers[at];
      return answer === undefined
        ? endpoint
        : learn(endpoint, readEngine(answer, endpoint, targets[at]?.engine ?? "auto"));
    });
    onPlaces(
      targets.flatMap(({ origin, slots }, at) => {
        const endpoint = endpoints[at];
        return endpoint === undefined ? [] : [{ origin, slots, endpoint }];
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
      await dispatcher.destroy();
    },
  };
};
