/** Time as a dependency, so that tests and the simulator bring their own. */
import { performance } from "node:perf_hooks";

export type Clock = {
  /** Milliseconds on a clock that never jumps; only differences mean something, and only within one process. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the Unix epoch; may jump when somebody sets the clock. */
  readonly epochMs: () => number;
};

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  epochMs: () => Date.now(),
};
