/** The channel on which GTMs tell each other that a key has a new revision, and whether everything that was told was heard. */
import type { Clock } from "./clock.ts";
import { changedChannel } from "./keys.ts";
import { ChangedMessage } from "./records.ts";
import type { Store } from "./store.ts";

/** @param rev 0: the key is gone. @throws {OperationalError} the store did not answer */
export const announceChange = (store: Store, key: string, rev: number): Promise<void> =>
  store.announce(changedChannel(), JSON.stringify({ key, rev } satisfies ChangedMessage));

type OnChange = (change: ChangedMessage) => void;
/** The one subscription of a store, for all who listen: each message is parsed once. */
type Feed = { readonly listeners: Set<OnChange>; readonly end: Promise<() => void> };
const feeds = new WeakMap<Store, Feed>();

/**
 * A message that is none is somebody else's; whoever missed one finds out within 2 s.
 *
 * @param onChange must not throw: others hear behind it
 * @returns a function that ends the subscription
 * @throws {OperationalError} the store did not answer
 */
export const subscribeToChanges = async (store: Store, onChange: OnChange): Promise<() => void> => {
  const feed = feeds.get(store) ?? openFeed(store);
  const { listeners, end } = feed;
  listeners.add(onChange);
  const leave = (): void => {
    listeners.delete(onChange);
    if (listeners.size > 0 || feeds.get(store) !== feed) return;
    feeds.delete(store);
    // One that was never taken has no end.
    end.then(
      (unsubscribe) => unsubscribe(),
      () => undefined,
    );
  };
  try {
    await end;
  } catch (cause) {
    leave();
    throw cause;
  }
  return leave;
};

const openFeed = (store: Store): Feed => {
  const listeners = new Set<OnChange>();
  const end = store.subscribe(changedChannel(), (message) => {
    const change = parseChange(message);
    if (change !== null) for (const hear of listeners) hear(change);
  });
  const feed = { listeners, end };
  feeds.set(store, feed);
  return feed;
};

const parseChange = (message: string): ChangedMessage | null => {
  try {
    return ChangedMessage.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null;
  }
};

/**
 * A subscription that was cut and made anew does not say so, and what was announced meanwhile is lost (Redis cuts off whoever
 * reads too slowly). So each GTM announces a number to itself, twice a second: while every one arrives, nothing was missed.
 */
export type ChangePulse = {
  /** Announces the next number. @throws {OperationalError} the store did not answer */
  readonly beat: () => Promise<void>;
  /** The subscription was taken: whatever was announced before may have been missed. */
  readonly began: () => void;
  /** @returns whether it was one of ours */
  readonly hear: (change: ChangedMessage) => boolean;
  /** Whether something may have been announced since then and not heard. @param sinceMs monotonic */
  readonly mayHaveMissed: (sinceMs: number) => boolean;
};

export const PULSE_EVERY_MS = 500;
/** Silence for longer is a gap; the stated window in which two GTMs may differ. */
const SILENT_AFTER_MS = 2_000;

/** @param name of this process alone */
export const createChangePulse = (store: Store, clock: Clock, name: string): ChangePulse => {
  const key = `pulse:${name}`;
  let told = 0;
  let heard = 0;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let missedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    beat: () => announceChange(store, key, ++told),
    began: () => {
      heardAtMs = clock.monotonicMs();
      missedUntilMs = heardAtMs;
      heard = told;
    },
    hear: ({ key: of, rev }) => {
      if (of !== key) return false;
      const nowMs = clock.monotonicMs();
      if (rev !== heard + 1 || nowMs - heardAtMs > SILENT_AFTER_MS) missedUntilMs = nowMs;
      heard = rev;
      heardAtMs = nowMs;
      return true;
    },
    mayHaveMissed: (sinceMs) => {
      const nowMs = clock.monotonicMs();
      const isSilent = nowMs - heardAtMs > SILENT_AFTER_MS;
      return sinceMs < missedUntilMs || (isSilent && nowMs - sinceMs > SILENT_AFTER_MS);
    },
  };
};
