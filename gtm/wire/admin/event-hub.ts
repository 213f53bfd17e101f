/** The latest happenings (decisions, changes of regions) in a ring, numbered, so that a reader can go on where it stopped. */
import type { World } from "#gtm/domain/world.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { OperationView } from "./operation-view.ts";
import type { DecisionsPort } from "./ports.ts";
import { type RegionChange, regionChanges } from "./region-changes.ts";

export type Happening = {
  /** Grows by one; unique within one hub. */
  readonly seq: number;
} & (
  | { readonly kind: "decision"; readonly entry: Entry }
  | { readonly kind: "region"; readonly atMs: number; readonly change: RegionChange }
  | { readonly kind: "operation"; readonly atMs: number; readonly operation: OperationView }
);

export type Resumed =
  | { readonly kind: "found"; readonly happenings: readonly Happening[] }
  /** The id is another process's, or so old that what followed is no longer kept. */
  | { readonly kind: "gap" };

export type EventHub = {
  /** `boot-seq`: what a reader sends back as Last-Event-ID. */
  readonly idOf: (happening: Pick<Happening, "seq">) => string;
  readonly since: (lastEventId: string) => Resumed;
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: (happening: Happening) => void) => () => void;
  /** Compares the world with the one seen last. */
  readonly look: () => void;
  /** A drain began, moved on or ended. */
  readonly tell: (operation: OperationView) => void;
  readonly stop: () => void;
};

/** Seconds to minutes of decisions: enough for a reader that reconnects. */
const KEPT = 1_000;

type HubOptions = {
  readonly world: () => World;
  readonly decisions: Pick<DecisionsPort, "subscribe">;
  readonly clock: Clock;
  /** Names this hub; must differ from the one of the process before. */
  readonly boot: string;
};

export const createEventHub = ({ world, decisions, clock, boot }: HubOptions): EventHub => {
  const ring: Happening[] = [];
  const listeners = new Set<(happening: Happening) => void>();
  let seq = 0;
  let seen = world();

  const add = (happening: Happening): void => {
    ring[happening.seq % KEPT] = happening;
    for (const listener of listeners) listener(happening);
  };
  const unsubscribe = decisions.subscribe((entry) => {
    seq += 1;
    add({ seq, kind: "decision", entry });
  });

  const between = (first: number, last: number): readonly Happening[] => {
    const found: Happening[] = [];
    for (let at = first; at <= last; at++) {
      const happening = ring[at % KEPT];
      if (happening !== undefined) found.push(happening);
    }
    return found;
  };

  return {
    idOf: (happening) => `${boot}-${happening.seq}`,
    since: (lastEventId) => {
      const [, from, digits] = /^(.*)-([0-9]{1,15})$/.exec(lastEventId) ?? [];
      const last = Number(digits);
      const isKnown = from === boot && last <= seq && last >= seq - KEPT;
      return isKnown ? { kind: "found", happenings: between(last + 1, seq) } : { kind: "gap" };
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    look: () => {
      const now = world();
      for (const change of regionChanges(seen, now)) {
        seq += 1;
        add({ seq, kind: "region", atMs: clock.epochMs(), change });
      }
      seen = now;
    },
    tell: (operation) => {
      seq += 1;
      add({ seq, kind: "operation", atMs: clock.epochMs(), operation });
    },
    stop: unsubscribe,
  };
};
