/** Hashes of settings: of the whole, and of each part, so that two can be compared without being shown. Secrets are not in them. */
import { createHash } from "node:crypto";
import type { Shown } from "#gtm/config/shown-settings.ts";

type Sections = Readonly<Record<string, Shown>>;

/** 16 hexadecimal digits; the order of keys is no difference. */
export const hashOf = (shown: Shown | Sections): string =>
  createHash("sha256").update(JSON.stringify(shown, sorted)).digest("hex").slice(0, 16);

const sorted = (_key: string, value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
