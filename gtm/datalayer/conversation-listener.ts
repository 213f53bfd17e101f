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

export type Heard = {
  /** @param rev 0: it is gone */
  readonly onChange: (id: ConversationId, rev: number) => void;
  /** A region's gateway refused it. */
  readonly onRefused: (id: ConversationId) => void;
};

export const createConversationListener = (
  { store, clock, failures }: { readonly store: Store; readonly clock: Clock; readonly failures: StoreFailures },
  { onChange, onRefused }: Heard,
): ConversationListener => {
  const pulse = createChangePulse(store, clock, randomUUID());
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;

  const listen = async (): Promise<void> => {
    try {
      if (unsubscribe === null) {
        unsubscribe = await subscribeToChanges(store, (change) => {
          const found = pulse.hear(change) ? null : KIND_OF_KEY.exec(change.key);
          const id = ConversationId.safeParse(found?.[2]).data;
          if (id === undefined) return;
          if (found?.[1] === "refused") onRefused(id);
          else onChange(id, change.rev);
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

/** Of a conversation, or of its refusal. */
const KIND_OF_KEY = /:(conv|refused):\{(.+)\}$/;
