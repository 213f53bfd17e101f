/** Memory as exporters tell it, in MiB: one number of series that should say the same, or why there is none. */
import type { Sample } from "../exposition-line.ts";

export type Mib =
  | { readonly kind: "known"; readonly mib: number }
  | { readonly kind: "unknown"; readonly code: string };

const BYTES_PER_MIB = 1_048_576;
/** A petabyte. DCGM writes values near 2⁶³ for "blank". */
export const LARGEST_MIB = 1e9;

export const bytesOfMib = (mib: number): number => Math.round(mib * BYTES_PER_MIB);

/** @param samples of one memory, repeated for each pod that uses it */
export const mibOfSame = (samples: readonly Sample[]): Mib => {
  const values = new Set(samples.map(({ value }) => value));
  const [mib] = values;
  const unknown = (code: string): Mib => ({ kind: "unknown", code });
  if (mib === undefined) return unknown("missing");
  if (!Number.isFinite(mib)) return unknown("not-finite");
  if (values.size > 1) return unknown("contradictory");
  if (mib > LARGEST_MIB) return unknown("blank");
  return mib < 0 ? unknown("out-of-range") : { kind: "known", mib };
};
