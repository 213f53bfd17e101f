/** Numbers as a person reads them, each with its unit; a dash where nothing is known. */
import { ageText } from "../../quantity-text.ts";

type Maybe = number | null | undefined;
const UNKNOWN = "–";
const orUnknown = (value: Maybe, format: (known: number) => string): string =>
  value === null || value === undefined ? UNKNOWN : format(value);

/** "80 ms", "1.24 s" */
export const milliseconds = (value: Maybe): string =>
  orUnknown(value, (ms) => (Math.abs(ms) < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`));

/** "0.7 s", "42 s", "3 min", "2 h 5 min", "3 d 4 h" */
export const age = (value: Maybe): string => orUnknown(value, ageText);

export const percent = (value: Maybe): string => orUnknown(value, (fraction) => `${Math.round(fraction * 100)} %`);

/** "18 432", "3.9 M" */
export const count = (value: Maybe): string =>
  orUnknown(value, (known) =>
    known >= 1e6
      ? `${(known / 1e6).toFixed(1)} M`
      : Math.round(known)
          .toString()
          .replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f"),
  );

export const gigabytes = (value: Maybe): string => orUnknown(value, (bytes) => `${(bytes / 1e9).toFixed(1)} GB`);

/** "04:02:11" of an ISO time, in the browser's own zone. */
export const clockTime = (iso: string): string => new Date(iso).toLocaleTimeString("en-GB");
