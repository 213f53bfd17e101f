/** What all GTMs sent to the regions since their last reports, and how much of the regions' caches they keep alive. */
import type { SendTo } from "#gtm/domain/sends.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Clock } from "#shared/clock.ts";
import { InstanceId, type RegionId } from "#shared/ids.ts";
import { instancesKey, KEYS, sentKey } from "#shared/keys.ts";
import { SentRecord } from "#shared/records.ts";
import type { Store, Stored } from "#shared/store.ts";
import type { CellRegions } from "./cell-regions.ts";
import { sentRecord } from "./sent-record.ts";

export type Sent = {
  /** A turn of this instance is on its way. */
  readonly add: (send: SendTo) => void;
  /** Of all instances, in any order. */
  readonly sends: () => readonly SendTo[];
  readonly live: () => readonly LiveTokens[];
  /** Tells the others and hears them. @throws {OperationalError} the store did not answer */
  readonly sync: () => Promise<void>;
};

export type SentOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly instance: InstanceId;
  /** What this instance's conversations keep alive. */
  readonly ownLive: () => readonly LiveTokens[];
  readonly cells: CellRegions;
  /** When the oldest report that still speaks for the region was made, monotonic ms; null: there is none. */
  readonly reportedSinceMs: (region: RegionId) => number | null;
  /** The store no longer lists this instance, which had been listed: it was wiped, or we were away for long. */
  readonly onForgotten: () => void;
  /** A record that is not one: its instance goes unheard. */
  readonly onRefused: (instance: string, detail: string) => void;
};

/** The longest that a send can matter: by then every report that lacks it has expired. */
const KEPT_MS = 30_000;
/** Another GTM may still count by the report before. */
const SLACK_MS = 2_500;
/** Who are the others changes rarely. */
const FIND_OTHERS_EVERY_MS = 2_000;
/** An instance that was away this long is taken off the list. */
const REMEMBERED_MS = 600_000;

type Foreign = { readonly sends: readonly SendTo[]; readonly live: readonly LiveTokens[] };

export const createSent = (options: SentOptions): Sent => {
  const { store, clock, instance } = options;
  let own: SendTo[] = [];
  let others: readonly InstanceId[] = [];
  let foreign: readonly Foreign[] = [];
  let foundOthersAtMs = Number.NEGATIVE_INFINITY;
  let isListed = false;

  const prune = (nowMs: number): void => {
    const oldest = (region: RegionId): number =>
      Math.max(nowMs - KEPT_MS, (options.reportedSinceMs(region) ?? Number.NEGATIVE_INFINITY) - SLACK_MS);
    own = own.filter(({ region, send }) => send.arrivalAtMs > oldest(region));
  };
  const findOthers = async (nowMs: number): Promise<void> => {
    if (nowMs - foundOthersAtMs < FIND_OTHERS_EVERY_MS) return;
    const epochMs = clock.epochMs();
    const index = await store.indexRange(instancesKey(), 0, Number.MAX_SAFE_INTEGER);
    if (isListed && index.every(({ member }) => member !== instance)) options.onForgotten();
    await store.indexAdd(instancesKey(), instance, epochMs);
    isListed = true;
    for (const { member, score } of index) {
      if (score < epochMs - REMEMBERED_MS) await store.indexRemove(instancesKey(), member);
    }
    others = index
      .map(({ member }) => InstanceId.safeParse(member).data)
      .filter((member) => member !== undefined && member !== instance) as InstanceId[];
    foundOthersAtMs = nowMs;
  };
  const hear = (other: InstanceId, stored: Stored, nowMs: number): Foreign | null => {
    const parsed = SentRecord.safeParse(parseJson(stored.value));
    if (!parsed.success) {
      options.onRefused(other, parsed.error.issues[0]?.message ?? "no SentRecord");
      return null;
    }
    const { sends, live, cells } = parsed.data;
    const ageMs = stored.remainingMs === null ? 0 : Math.max(0, KEYS.sent.ttlMs - stored.remainingMs);
    options.cells.hear(cells);
    return {
      live,
      sends: sends.map(({ region, model, replica, arrivalAgeMs, workMs }) => ({
        region,
        model,
        send: { replica, arrivalAtMs: nowMs - ageMs - arrivalAgeMs, workMs: Math.min(workMs, MOST_WORK_MS) },
      })),
    };
  };

  return {
    add: (send) => {
      own.push(send);
    },
    sends: () => [...own, ...foreign.flatMap(({ sends }) => sends)],
    live: () => [...options.ownLive(), ...foreign.flatMap(({ live }) => live)],
    sync: async () => {
      const startedMs = clock.monotonicMs();
      prune(startedMs);
      const record = sentRecord({ sends: own, live: options.ownLive(), cells: options.cells.own(), nowMs: startedMs });
      await store.put(sentKey(instance), JSON.stringify(record), KEYS.sent.ttlMs);
      await findOthers(startedMs);
      if (others.length === 0) {
        foreign = [];
        return;
      }
      const values = await store.getMany(others.map(sentKey));
      const nowMs = clock.monotonicMs();
      foreign = others
        .map((other, at) => ({ other, stored: values[at] ?? null }))
        .map(({ other, stored }) => (stored === null ? null : hear(other, stored, nowMs)))
        .filter((one) => one !== null);
    },
  };
};

/** A day of prefill: more is a mistake, and its sum would not stay finite. */
const MOST_WORK_MS = 86_400_000;

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
