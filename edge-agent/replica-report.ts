/** One replica of a model as the report has it. */
import type { ReplicaId } from "#shared/ids.ts";
import type { ReplicaReport } from "#shared/report.ts";
import { backlogMs } from "./backlog.ts";
import type { Endpoint, KnownModel, KnownReplica } from "./endpoint.ts";
import { meanSpeed, prefillCoefficients, type Speed, speedInUse } from "./speed.ts";

/** What the operator says of a model; null: nothing. */
export type ModelSettings = {
  readonly weightBytes: number | null;
  readonly coldStartMs: number | null;
  /** Of one replica. */
  readonly prefillTokensPerSecond: number | null;
  /** Of one replica; speaks louder than the engine, which is wrong for hybrid models. */
  readonly kvCapacityTokens: number | null;
};

/** A replica with where it stands and what it can hold. */
export type PlacedReplica = {
  readonly id: string;
  readonly replica: KnownReplica;
  readonly kvCapacityTokens: number | null;
  /** As measured or as the operator says; a replica without either does as its like do. */
  readonly speed: Speed | null;
};

export const placedReplicas = (
  places: readonly { readonly endpoint: Endpoint; readonly model: KnownModel }[],
  settings: ModelSettings,
): readonly PlacedReplica[] => {
  const placed = places.flatMap(({ endpoint, model }) =>
    model.replicas.map((replica) => ({
      id: `${endpoint.address}/${replica.engine}`,
      replica,
      kvCapacityTokens: settings.kvCapacityTokens ?? shareOf(model.kvCapacityTokens, model.replicas.length),
      speed: speedInUse(replica.measuredSpeed, replica.trustedSpeed, settings.prefillTokensPerSecond),
    })),
  );
  const usual = meanSpeed(placed.map(({ speed }) => speed));
  return placed.map((place) => ({ ...place, speed: place.speed ?? usual }));
};

const shareOf = (tokens: number | null, replicas: number): number | null =>
  tokens === null ? null : tokens / replicas;

/** @param all the model's replicas in this region: a replica that had no request lately is taken to get the usual ones */
export const replicaReport = (placed: PlacedReplica, all: readonly PlacedReplica[]): ReplicaReport => {
  const { replica, speed, kvCapacityTokens } = placed;
  const coefficients = speed === null ? null : prefillCoefficients(speed);
  const { decode } = replica.rates;
  return {
    id: placed.id as ReplicaId,
    startedAtMs: startedAtMsOf(replica),
    backlogMs: isShared(replica)
      ? null
      : backlogMs({
          ...replica,
          computedTokensPerRequest: computedTokensPerRequest([placed]) ?? computedTokensPerRequest(all),
          decodeMs: decode === null ? null : (1_000 * decode.seconds) / decode.count,
          prefillTokensPerSecond: speed?.tokensPerSecond ?? null,
        }),
    prefillLinMs: coefficients?.linMs ?? null,
    prefillAttnMs: coefficients?.attnMs ?? null,
    kvCapacityTokens,
    kvPinnedTokens:
      kvCapacityTokens === null || replica.kvCacheUsedFraction === null
        ? null
        : replica.kvCacheUsedFraction * kvCapacityTokens,
  };
};

const isShared = ({ history }: KnownReplica): boolean => history?.isShared === true;

/** The latest of what the engine says, what falling counters showed, and sleep, at every depth of which the cache is lost; older holdings are void. */
const startedAtMsOf = (replica: KnownReplica): number | null => {
  const seenAtMs = replica.history?.restartSeenAtMs ?? null;
  const { startedAt, asleepAtMs } = replica;
  if (isShared(replica) || (startedAt === null && seenAtMs === null && asleepAtMs === null)) return null;
  return Math.max(startedAt?.atMs ?? 0, seenAtMs ?? 0, asleepAtMs ?? 0);
};

/** @returns null where no request got its first token in the window */
const computedTokensPerRequest = (placed: readonly PlacedReplica[]): number | null => {
  const counted = placed.map(({ replica }) => replica.rates.perFirstToken).filter((one) => one !== null);
  const firstTokens = counted.reduce((sum, one) => sum + one.firstTokens, 0);
  const computedTokens = counted.reduce((sum, one) => sum + one.computedTokens, 0);
  return firstTokens > 0 ? computedTokens / firstTokens : null;
};
