/** Numbers as a person reads them, each with its unit; "-" where nothing is known. */
import { formatMs } from "#gtm/steering/quantity-text.ts";
import { ageText, instant } from "#gtm/wire/admin/quantity-text.ts";

export const UNKNOWN = "-";

type Maybe = number | null | undefined;

const orUnknown = (value: Maybe, format: (known: number) => string): string =>
  value === null || value === undefined ? UNKNOWN : format(value);

/** "80 ms", "1.24 s" */
export const milliseconds = (value: Maybe): string => orUnknown(value, formatMs);

/** "0.7 s", "42 s", "3 min", "2 h 5 min", "3 d 4 h" */
export const age = (value: Maybe): string => orUnknown(value, ageText);

/** "141.0 GB"; powers of 1 000. */
export const bytes = (value: Maybe): string =>
  orUnknown(value, (known) => {
    if (known >= 1e12) return `${(known / 1e12).toFixed(1)} TB`;
    return known >= 1e9 ? `${(known / 1e9).toFixed(1)} GB` : `${(known / 1e6).toFixed(1)} MB`;
  });

/** 0.62 */
export const fraction = (value: Maybe): string => orUnknown(value, (known) => known.toFixed(2));

/** "18 432", "3.9 M" */
export const count = (value: Maybe): string =>
  orUnknown(value, (known) =>
    known >= 1e6
      ? `${(known / 1e6).toFixed(1)} M`
      : Math.round(known)
          .toString()
          .replace(/\B(?=(\d{3})+(?!\d))/g, " "),
  );

/** ", until 2026-11-30 06:00:00Z (in 2 h 0 min)" */
export const untilText = (order: { readonly expiresAt: string | null; readonly expiresInMs: number | null }): string =>
  order.expiresAt === null
    ? ", until taken back"
    : `, until ${instant(order.expiresAt)} (in ${age(order.expiresInMs)})`;

export const yesNo = (value: boolean): string => (value ? "yes" : "no");
