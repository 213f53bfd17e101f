/** Whether this GTM answers as it should, and since when it does not: what /readyz and the admin API say. */
import type { Health } from "#gtm/wire/admin/ports.ts";
import type { Degradations } from "./datalayer/degradations.ts";

export type HealthWatch = {
  readonly health: () => Health;
  /** Every part has started. */
  readonly started: () => void;
  /** From now on no new work should come. */
  readonly stopping: () => void;
};

/** Degraded is still ready: a GTM that knows little answers better than none. */
export const createHealthWatch = (parts: {
  readonly degradations: Pick<Degradations, "current">;
  /** How old the saved reports are that decisions rest on; null: on live ones, or on none. */
  readonly savedWorldAgeMs: () => number | null;
}): HealthWatch => {
  let isReady = false;
  return {
    started: () => {
      isReady = true;
    },
    stopping: () => {
      isReady = false;
    },
    health: () => {
      const degradations = parts.degradations.current();
      return {
        isReady,
        degradations,
        degradedSinceMs: degradations.length === 0 ? null : Math.min(...degradations.map(({ sinceMs }) => sinceMs)),
        reasons: degradations.map(({ reason }) => reason),
        savedWorldAgeMs: parts.savedWorldAgeMs(),
      };
    },
  };
};
