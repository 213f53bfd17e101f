/** Switches that make an engine or its metrics misbehave as real ones do. */
import { z } from "zod";

const flag = z.boolean().optional();

/** What `POST /sim/mode` takes: the switches to change, and `restart`, which is an act. */
export const ModeChange = z.strictObject({
  /** Metrics under the names of vLLM 0.8. */
  old_names: flag,
  /** Gauges of load are NaN. */
  nan: flag,
  /** The metrics page breaks off in the middle. */
  half_page: flag,
  /** The metrics page takes 5 s. */
  slow: flag,
  /** There is no metrics page, as where it is not switched on or switched off. */
  no_metrics: flag,
  /** Asleep: no completions, no contexts. */
  sleep: flag,
  /** Two processes answer in turn behind one address. */
  multi_replica: flag,
  /** The process ends and starts anew: connections, contexts and counters are gone. */
  restart: z.literal(true).optional(),
});
export type ModeChange = z.infer<typeof ModeChange>;

export type Modes = Record<
  "old_names" | "nan" | "half_page" | "slow" | "no_metrics" | "sleep" | "multi_replica",
  boolean
>;

export const normalModes = (): Modes => ({
  old_names: false,
  nan: false,
  half_page: false,
  slow: false,
  no_metrics: false,
  sleep: false,
  multi_replica: false,
});
