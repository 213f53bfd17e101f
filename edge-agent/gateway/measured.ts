/** Tells the GTMs what was measured: in batches, at most every 200 ms, bounded while the store is away. A lost batch costs learning. */
import { randomUUID } from "node:crypto";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { turnsChannel } from "#shared/keys.ts";
import { type MeasuredTurn, MOST_TURNS, type TurnBatch } from "#shared/measured-turn.ts";
import type { Metrics } from "#shared/metrics.ts";
import { signedWith } from "#shared/region-signature.ts";
import type { Store } from "#shared/store.ts";
import type { StoreWarnings } from "./store-warnings.ts";

/** A turn, and when it ended on the monotonic clock: `atAgeMs` is put right when it is sent. */
export type EndedTurn = { readonly turn: MeasuredTurn; readonly endedAtMs: number };

export type Announcer = {
  /** Returns at once. */
  readonly tell: (ended: EndedTurn) => void;
  /** Sends what waits, if the store is there. */
  readonly stop: () => Promise<void>;
};

const EVERY_MS = 200;
/** Of more the newest teach most. */
const MOST_WAITING = 5_000;
/** What happened longer ago teaches nothing of now. */
const OLDEST_MS = 300_000;

export const createAnnouncer = (by: {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly warn: StoreWarnings;
  readonly region: RegionId;
  readonly gateway: string;
  /** The region's report key of now; null: batches go unsigned. */
  readonly reportKey: () => Uint8Array | null;
}): Announcer => {
  const boot = randomUUID();
  const lost = by.metrics.counter({
    name: "gtm_gateway_turns_untold_total",
    help: "Measured turns that no GTM heard of: too many waited, they were too old when the store came back, their model is no text, or the process stopped.",
    labels: ["reason"],
  });
  for (const reason of ["too-many", "too-old", "no-text", "stopped"]) lost.inc({ reason }, 0);
  let waiting: EndedTurn[] = [];
  let seq = 0;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;

  const bound = (): void => {
    const excess = waiting.length - MOST_WAITING;
    if (excess <= 0) return;
    waiting = waiting.slice(excess);
    lost.inc({ reason: "too-many" }, excess);
  };
  const forgetOld = (nowMs: number): void => {
    const young = waiting.filter(({ endedAtMs }) => nowMs - endedAtMs <= OLDEST_MS);
    lost.inc({ reason: "too-old" }, waiting.length - young.length);
    waiting = young;
  };
  const sendOne = async (): Promise<void> => {
    const nowMs = by.clock.monotonicMs();
    forgetOld(nowMs);
    if (waiting.length === 0) return;
    const taken = waiting.slice(0, MOST_TURNS);
    waiting = waiting.slice(MOST_TURNS);
    const turns = taken.map(({ turn, endedAtMs }) => ({ ...turn, atAgeMs: Math.max(0, nowMs - endedAtMs) }));
    const batch: TurnBatch = { v: 1, region: by.region, gateway: by.gateway, boot, seq: seq + 1, turns, mac: null };
    const key = by.reportKey();
    try {
      await by.store.announce(turnsChannel(), JSON.stringify(key === null ? batch : signedWith(batch, key)));
      seq += 1;
    } catch (cause) {
      by.warn("turns.announce", cause);
      waiting = [...taken, ...waiting];
      bound();
    }
  };
  const send = (): Promise<void> => {
    timer = null;
    sending ??= (by.store.isUp() ? sendOne() : Promise.resolve()).finally(() => {
      sending = null;
      if (waiting.length > 0) wait();
    });
    return sending;
  };
  const wait = (): void => {
    if (timer !== null) return;
    timer = setTimeout(() => void send(), EVERY_MS);
    timer.unref();
  };
  return {
    tell: (ended) => {
      // A client may call a model by half a surrogate pair, which nobody can sign (RFC 8785 §3.1).
      if (!ended.turn.model.isWellFormed()) return lost.inc({ reason: "no-text" });
      waiting.push(ended);
      bound();
      wait();
    },
    stop: async () => {
      if (timer !== null) clearTimeout(timer);
      await sending;
      for (let left = -1; by.store.isUp() && waiting.length > 0 && waiting.length !== left; ) {
        left = waiting.length;
        await sendOne();
      }
      if (timer !== null) clearTimeout(timer);
      lost.inc({ reason: "stopped" }, waiting.length);
      waiting = [];
    },
  };
};
