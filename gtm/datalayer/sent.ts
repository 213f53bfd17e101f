/** What all GTMs sent to the regions since their last reports, and how much of the regions' caches they keep alive. */
import type { SendTo } from "#gtm/domain/sends.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId, RegionId } from "#shared/ids.ts";
import { KEYS, sentKey } from "#shared/keys.ts";
import { SentRecord } from "#shared/records.ts";
import type { Store, Stored } from "#shared/store.ts";
import type { Agreement } from "./agreement.ts";
import type { CellRegions } from "./cell-regions.ts";
import { createInstances } from "./instances.ts";
import { jsonOrNull } from "./json-or-null.ts";
import { sentRecord } from "./sent-record.ts";

export type Sent = {
  /** A turn of this instance is on its way. */
  readonly add: (send: SendTo) => void;
  /** Of all instances, in any order. */
  readonly sends: () => readonly SendTo[];
  readonly live: () => readonly LiveTokens[];
  /**
   * Tells the others and hears them, each by itself: one that cannot be read, and our own word when the store takes no more,
   * leave the rest alone.
   *
   * @throws {OperationalError} something of it failed; the rest was done
   */
  readonly sync: () => Promise<void>;
};

export type SentOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly instance: InstanceId;
  /** What this instance's conversations keep alive. */
  readonly ownLive: () => readonly LiveTokens[];
  readonly cells: CellRegions;
  readonly agreement: Pick<Agreement, "said" | "hear" | "sawDouble">;
  /** When the oldest report that still speaks for the region was made, monotonic ms; null: there is none. */
  readonly reportedSinceMs: (region: RegionId) => number | null;
  /** The store no longer lists this instance, which had been listed: it was wiped, or we were away for long. */
  readonly onForgotten: () => void;
  /** A record that is not one, or of a version that we do not read: its instance goes unheard. Told once for each reason. */
  readonly onRefused: (instance: string, detail: string) => void;
};

/** The longest that a send can matter: by then every report that lacks it has expired. */
const KEPT_MS = 30_000;
/** Another GTM may still count by the report before. */
const SLACK_MS = 2_500;
/** A day of prefill: more is a mistake, and its sum would not stay finite. */
const MOST_WORK_MS = 86_400_000;

type Foreign = { readonly sends: readonly SendTo[]; readonly live: readonly LiveTokens[]; readonly untilMs: number };

export const createSent = (options: SentOptions): Sent => {
  const { store, clock, instance, agreement } = options;
  const instances = createInstances(options, options.onForgotten);
  const foreign = new Map<InstanceId, Foreign>();
  const refusals = new Map<InstanceId, string>();
  let own: SendTo[] = [];
  let hasTold = false;

  const prune = (nowMs: number): void => {
    const oldest = (region: RegionId): number =>
      Math.max(nowMs - KEPT_MS, (options.reportedSinceMs(region) ?? Number.NEGATIVE_INFINITY) - SLACK_MS);
    own = own.filter(({ region, send }) => send.arrivalAtMs > oldest(region));
  };
  const refuse = (other: InstanceId, detail: string): void => {
    foreign.delete(other);
    if (refusals.get(other) === detail) return;
    refusals.set(other, detail);
    options.onRefused(other, detail);
  };
  const hear = (other: InstanceId, stored: Stored, nowMs: number): void => {
    const parsed = SentRecord.safeParse(jsonOrNull(stored.value));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      refuse(other, issue === undefined ? "no SentRecord" : `${issue.path.map(String).join(".")}: ${issue.message}`);
      return;
    }
    refusals.delete(other);
    const { sends, live, cells } = parsed.data;
    const ageMs = stored.remainingMs === null ? 0 : Math.max(0, KEYS.sent.ttlMs - stored.remainingMs);
    options.cells.hear(cells);
    agreement.hear(other, parsed.data, ageMs);
    foreign.set(other, {
      live,
      sends: sends.map(({ region, model, replica, arrivalAgeMs, workMs }) => ({
        region,
        model,
        send: { replica, arrivalAtMs: nowMs - ageMs - arrivalAgeMs, workMs: Math.min(workMs, MOST_WORK_MS) },
      })),
      untilMs: nowMs - ageMs + KEYS.sent.ttlMs,
    });
  };
  const hearOf = (other: InstanceId, stored: Stored | null, nowMs: number): void => {
    instances.saw(other, stored !== null);
    if (stored === null) foreign.delete(other);
    else hear(other, stored, nowMs);
  };
  /** What could not be read counts for as long as it would stand there. */
  const forget = (others: readonly InstanceId[], nowMs: number): void => {
    for (const [other, { untilMs }] of foreign) if (untilMs <= nowMs || !others.includes(other)) foreign.delete(other);
    for (const other of refusals.keys()) if (!others.includes(other)) refusals.delete(other);
  };
  /** @returns what failed; null: nothing */
  const tell = async (): Promise<unknown> => {
    const nowMs = clock.monotonicMs();
    prune(nowMs);
    const said = agreement.said();
    const record = sentRecord({ sends: own, live: options.ownLive(), cells: options.cells.own(), said, nowMs });
    const key = sentKey(instance);
    // Once we have written, what stands there must be our own, or another process has our name.
    const [before, put] = await Promise.allSettled([
      store.get(key),
      store.put(key, JSON.stringify(record), KEYS.sent.ttlMs),
    ]);
    if (hasTold && before.status === "fulfilled") agreement.sawDouble(bootOf(before.value));
    hasTold ||= put.status === "fulfilled";
    return [put, before].find(isRejected)?.reason ?? null;
  };
  const hearAll = async (): Promise<unknown> => {
    const looked = await settled(instances.look());
    const others = instances.others();
    const found = await Promise.allSettled(others.map((other) => store.get(sentKey(other))));
    const nowMs = clock.monotonicMs();
    for (const [at, answer] of found.entries()) {
      if (answer.status === "fulfilled") hearOf(others[at] as InstanceId, answer.value, nowMs);
    }
    forget(others, nowMs);
    return looked ?? found.find(isRejected)?.reason ?? null;
  };

  return {
    add: (send) => {
      own.push(send);
    },
    sends: () => [...own, ...[...foreign.values()].flatMap(({ sends }) => sends)],
    live: () => [...options.ownLive(), ...[...foreign.values()].flatMap(({ live }) => live)],
    sync: async () => {
      const told = await tell();
      const heard = await hearAll();
      const fault = told ?? heard;
      if (fault !== null) throw fault;
    },
  };
};

const isRejected = (outcome: PromiseSettledResult<unknown>): outcome is PromiseRejectedResult =>
  outcome.status === "rejected";

/** @returns what failed; null: nothing */
const settled = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (cause) => cause,
  );

/** null: there is none, or it does not say. */
const bootOf = (stored: Stored | null): string | null => {
  const raw = stored === null ? null : jsonOrNull(stored.value);
  return typeof raw === "object" && raw !== null && "boot" in raw && typeof raw.boot === "string" ? raw.boot : null;
};
