/** What the agent knows of one scraped address, carried from round to round. */
import type { PlacementState } from "#shared/report.ts";
import { type KnownTier, learnTiers } from "./cache-tiers.ts";
import { driftAfter, type KnownSources, NO_SOURCES } from "./drift.ts";
import type { TierReading } from "./engines/cache-tiers.ts";
import type { EngineReading, FieldSource, ModelReading, ReplicaReading } from "./engines/engine.ts";
import { UNMEASURED } from "./engines/engine.ts";
import { type Fault, WHOLE_PAGE } from "./exposition.ts";
import { NO_PAGE_MEMORY, type PageMemory } from "./exposition-layout.ts";
import { type History, observe } from "./history.ts";
import { type LoadWatch, watchLoad } from "./load-time.ts";
import { NO_RATES, type ReplicaRates, ratesOf } from "./rates.ts";
import { lastTrusted, measuredSpeed, type Speed } from "./speed.ts";

/** `unknown`: the probe got no answer, which is not a no. */
export type Health = "up" | "down" | "loading" | "unknown";

/** What one round learnt of the address. */
export type Observation = {
  /** On the agent's monotonic clock. */
  readonly atMs: number;
  readonly atEpochMs: number;
  readonly health: Health;
  /** null: nobody knows what engine this is, or this version does not read it. */
  readonly reading: EngineReading | null;
  /** Whether the metrics page was had whole; where not, every measured value is unknown. */
  readonly isMeasured: boolean;
  /** `/v1/models` as JSON; null: not had this time. */
  readonly modelList: unknown;
  /** Epoch ms, by the page; null: it does not say. */
  readonly processStartedAtMs: number | null;
  readonly faults: readonly Fault[];
  /** null: the page was not had. */
  readonly cacheTiers: readonly TierReading[] | null;
  /** For reading the next page. */
  readonly pageMemory: PageMemory;
  /** Optional paths of its engine that answered 404. */
  readonly absentPaths: readonly string[];
};

export type KnownReplica = ReplicaReading & {
  readonly history: History | null;
  readonly rates: ReplicaRates;
  readonly measuredSpeed: Speed | null;
  /** The newest measurement that was more than a guess, also of earlier rounds. */
  readonly trustedSpeed: Speed | null;
  /** Epoch ms when it was last seen asleep, which empties its cache; null: never. */
  readonly asleepAtMs: number | null;
};
export type KnownModel = Omit<ModelReading, "replicas"> & { readonly replicas: readonly KnownReplica[] };

export type Endpoint = {
  /** `host:port`. */
  readonly address: string;
  readonly isDown: boolean;
  /** It says that it is loading and cannot serve yet. */
  readonly isLoading: boolean;
  /** The engine's name as last recognised. */
  readonly engine: string | null;
  readonly models: readonly KnownModel[];
  readonly modelList: unknown;
  readonly faults: readonly Fault[];
  /** Under which names fields were found, as of the last time anything was measured. */
  readonly sources: readonly FieldSource[];
  readonly knownSources: KnownSources;
  /** By model. */
  readonly loads: ReadonlyMap<string, LoadWatch>;
  /** Monotonic ms of the last answer of any kind; null: never. */
  readonly heardAtMs: number | null;
  /** Of the models here, or of others where it is a tier's own server. */
  readonly cacheTiers: readonly KnownTier[];
  /** How its last page was laid out. */
  readonly pageMemory: PageMemory;
  /** Optional paths that it has not; forgotten when it was away, since it may come back with them. */
  readonly absentPaths: ReadonlySet<string>;
};

/** As long as a report lives: who has not answered for this long is treated as gone. */
const SILENT_IS_DOWN_AFTER_MS = 30_000;

export const newEndpoint = (address: string): Endpoint => ({
  address,
  isDown: false,
  isLoading: false,
  engine: null,
  models: [],
  modelList: null,
  faults: [],
  sources: [],
  knownSources: NO_SOURCES,
  loads: new Map(),
  heardAtMs: null,
  cacheTiers: [],
  pageMemory: NO_PAGE_MEMORY,
  absentPaths: NO_PATHS,
});

const NO_PATHS: ReadonlySet<string> = new Set();

/** @param windowMs how far back rates look; the default unless captured payloads lie further apart */
export const learn = (endpoint: Endpoint, seen: Observation, windowMs?: number): Endpoint => {
  const isHeard = seen.isMeasured || seen.modelList !== null || seen.health !== "unknown";
  const heardAtMs = isHeard ? seen.atMs : endpoint.heardAtMs;
  const isSilent = heardAtMs !== null && seen.atMs - heardAtMs >= SILENT_IS_DOWN_AFTER_MS;
  const models = seen.isMeasured ? measured(endpoint, seen, windowMs) : unmeasured(endpoint, seen);
  const isShared = models.some(({ replicas }) => replicas.some(({ history }) => history?.isShared === true));
  const isSame = seen.reading === null || endpoint.engine === null || seen.reading.engine === endpoint.engine;
  const drift = driftAfter(isSame ? endpoint.knownSources : NO_SOURCES, seen.reading);
  const faults = [...seen.faults, ...(seen.reading?.faults ?? []), ...drift.faults];
  const isDown = seen.health === "down" || isSilent;
  const isLoading = seen.health === "loading";
  return {
    address: endpoint.address,
    isDown,
    isLoading,
    // Another engine may come up where one went down.
    engine: seen.reading?.engine ?? (isDown ? null : endpoint.engine),
    models,
    modelList: seen.modelList ?? endpoint.modelList,
    faults: isShared ? [...faults, { field: WHOLE_PAGE, code: "multi-replica-endpoint" }] : faults,
    sources: seen.reading?.isMeasured ? seen.reading.sources : endpoint.sources,
    knownSources: drift.known,
    loads: loadsAfter(endpoint, models, seen, stateOfAll(isDown, isLoading)),
    heardAtMs,
    cacheTiers: learnTiers(endpoint.cacheTiers, seen.cacheTiers, seen, windowMs),
    pageMemory: seen.pageMemory,
    absentPaths: isDown || isLoading ? NO_PATHS : withPaths(endpoint.absentPaths, seen.absentPaths),
  };
};

const withPaths = (known: ReadonlySet<string>, more: readonly string[]): ReadonlySet<string> =>
  more.every((path) => known.has(path)) ? known : new Set([...known, ...more]);

const stateOfAll = (isDown: boolean, isLoading: boolean): PlacementState | null =>
  isDown ? "down" : isLoading ? "loading" : null;

/** @param state of the whole address; null: each model has its own */
const loadsAfter = (
  { loads }: Endpoint,
  models: readonly KnownModel[],
  { atMs, atEpochMs, processStartedAtMs }: Observation,
  state: PlacementState | null,
): Endpoint["loads"] =>
  new Map(
    models.map((known) => {
      const isAsleep = known.replicas.length > 0 && known.replicas.every((replica) => replica.isAsleep === true);
      const look = {
        atMs,
        atEpochMs,
        processStartedAtMs,
        state: state ?? known.state ?? (isAsleep ? "asleep" : "loaded"),
      };
      return [known.model, watchLoad(loads.get(known.model) ?? null, look)];
    }),
  );

const knownModel = (endpoint: Endpoint, model: string): KnownModel | null =>
  endpoint.models.find((known) => known.model === model) ?? null;

const measured = (endpoint: Endpoint, seen: Observation, windowMs: number | undefined): readonly KnownModel[] =>
  (seen.reading?.models ?? []).map((model) => {
    const before = knownModel(endpoint, model.model);
    return {
      ...model,
      replicas: model.replicas.map((replica) => {
        const same = before?.replicas.find(({ engine }) => engine === replica.engine) ?? null;
        return knownReplica(replica, same, seen, windowMs);
      }),
    };
  });

const knownReplica = (
  replica: ReplicaReading,
  before: KnownReplica | null,
  { atMs, atEpochMs }: Observation,
  windowMs: number | undefined,
): KnownReplica => {
  const { startedAt, counters } = replica;
  const history = observe(before?.history ?? null, { atMs, atEpochMs, startedAt, counters }, windowMs);
  const rates = ratesOf(history);
  const speed = measuredSpeed(rates);
  const trusted = lastTrusted(speed, before?.trustedSpeed ?? null);
  const asleepAtMs = replica.isAsleep === true ? atEpochMs : notAfter(before?.asleepAtMs ?? null, atEpochMs);
  return { ...replica, history, rates, measuredSpeed: speed, trustedSpeed: trusted, asleepAtMs };
};

/** A clock that was ahead and was set back must not void what is held until it gets there again. */
const notAfter = (atMs: number | null, nowMs: number): number | null => (atMs === null ? null : Math.min(atMs, nowMs));

/** The same replicas as before with nothing measured; how they were started and how large they are does not change by silence. */
const unmeasured = (endpoint: Endpoint, seen: Observation): readonly KnownModel[] => {
  const listed = seen.reading?.models ?? [];
  const models = listed.length > 0 ? listed : endpoint.models;
  return models.map((model) => {
    const before = knownModel(endpoint, model.model);
    return {
      ...model,
      kvCapacityTokens: before?.kvCapacityTokens ?? null,
      replicas: before?.replicas.map(blank) ?? [],
    };
  });
};

const blank = (replica: KnownReplica): KnownReplica => ({
  ...UNMEASURED,
  engine: replica.engine,
  startedAt: replica.startedAt,
  isAsleep: replica.isAsleep,
  history: replica.history,
  rates: NO_RATES,
  measuredSpeed: null,
  trustedSpeed: replica.trustedSpeed,
  asleepAtMs: replica.asleepAtMs,
});
