/** Fields that an engine used to say and says no more: what a rename or a switch in its configuration looks like from here. */
import type { EngineReading } from "./engines/engine.ts";
import type { Fault } from "./exposition.ts";

/** The name that each field was last found under, since this engine was recognised there. */
export type KnownSources = ReadonlyMap<string, string>;

export const NO_SOURCES: KnownSources = new Map();

/** The name is there, its value is none: that has its own fault. */
const UNSOUND = new Set(["not-finite", "out-of-range", "duplicate", "incomplete-histogram", "malformed-bound"]);

export type Drift = { readonly known: KnownSources; readonly faults: readonly Fault[] };

/** @param reading null, or nothing measured: nothing is learnt, and nothing has vanished */
export const driftAfter = (known: KnownSources, reading: EngineReading | null): Drift => {
  if (reading === null || !reading.isMeasured) return { known, faults: [] };
  const found = new Map(reading.sources.map(({ field, source }) => [field, source]));
  const unsound = new Set(reading.faults.filter(({ code }) => UNSOUND.has(code)).map(({ field }) => field));
  const vanished = [...known.keys()].filter((field) => !found.has(field) && !unsound.has(field));
  return {
    known: new Map([...known, ...found]),
    faults: vanished.map((field) => ({ field, code: "vanished" })),
  };
};
