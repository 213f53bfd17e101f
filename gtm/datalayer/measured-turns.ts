/** Tells whoever listens what gateways measured, as it is heard. */
import type { MeasuredTurn } from "#shared/measured-turn.ts";

type Listener = (turns: readonly MeasuredTurn[]) => void;

export type MeasuredTurns = {
  readonly tell: Listener;
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: Listener) => () => void;
};

export const createMeasuredTurns = (): MeasuredTurns => {
  const listeners = new Set<Listener>();
  return {
    tell: (turns) => {
      for (const listener of listeners) listener(turns);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};
