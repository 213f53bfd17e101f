/** Hears which conversations other GTMs changed, and knows when something may have gone unheard. */
import { randomUUID } from "node:crypto";
import { createChangePulse, PULSE_EVERY_MS, subscribeToChanges } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { ConversationId } from "#shared/ids.ts";
import type { Store } from "#shared/store.ts";
import type { StoreFailures } from "./store-failures.ts";

export type ConversationListener = {
  /** Whether something may have been announced since then and not heard. @param sinceMs monotonic */
  readonly mayHaveMissed: (sinceMs: number) => boolean;
  /** Resolves when the store has taken the subscription, or did not answer: then it is tried again and again. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

/** @param onChange a revision of 0: it is gone */
export const createConversationListener = (
  { store, clock, failures }: { readonly store: Store; readonly clock: Clock; readonly failures: StoreFailures },
  onChange: (id: ConversationId, rev: number) => void,
): ConversationListener => {
  const pulse = createChangePulse(store, clock, randomUUID());
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;

  const listen = async (): Promise<void> => {
    try {
      if (unsubscribe === null) {
        unsubscribe = await subscribeToChanges(store, (change) => {
          const id = pulse.hear(change) ? undefined : conversationIn(change.key);
          if (id !== undefined) onChange(id, change.rev);
        });
        pulse.began();
      }
      await pulse.beat();
    } catch (cause) {
      failures("conversation.subscribe", cause);
    }
  };
  return {
    mayHaveMissed: pulse.mayHaveMissed,
    start: async () => {
      await listen();
      timer = setInterval(() => void listen(), PULSE_EVERY_MS);
      timer.unref();
    },
    stop: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      unsubscribe?.();
      unsubscribe = null;
    },
  };
};

/** undefined: the key is no conversation's. */
const conversationIn = (key: string): ConversationId | undefined =>
  ConversationId.safeParse(/conv:\{(.+)\}$/.exec(key)?.[1]).data;
