/** Follows an alias through the zone as far as its answer is the same for everybody. */
import { CHALLENGE_LABEL } from "./challenge-label.ts";
import type { DnsRecord } from "./codec.ts";
import type { TimedData, ZoneEntries, ZoneEntry } from "./zone-entries.ts";

/** Where a chain of aliases ends. */
export type ChainEnd =
  /** A name of ours; `owner` as records of it are written. */
  | { readonly kind: "ours"; readonly owner: string; readonly entry: ZoneEntry }
  | { readonly kind: "missing" }
  | { readonly kind: "given-away"; readonly cut: string }
  /** Outside, steered, or further than we go: whoever asks goes on from there. */
  | { readonly kind: "elsewhere" };

export type Chain = { readonly aliases: readonly DnsRecord[]; readonly end: ChainEnd };

/** Aliases in one answer; a chain that is longer, or a loop, is gone on with by whoever asks. */
const MOST_ALIASES = 8;

/** @param alias of the name that was asked for */
export const chainOf = (alias: TimedData, zone: string, entries: ZoneEntries): Chain => {
  const aliases: DnsRecord[] = [{ owner: "question", ...alias }];
  let target = targetOf(alias);
  while (target !== null) {
    const end = endAt(target, zone, entries);
    const next = end.kind === "ours" ? aliasOf(end.entry) : null;
    if (next === null) return { aliases, end };
    if (aliases.length === MOST_ALIASES) break;
    aliases.push({ owner: { name: target }, ...next });
    target = targetOf(next);
  }
  return { aliases, end: { kind: "elsewhere" } };
};

export const aliasOf = ({ records }: ZoneEntry): TimedData | null =>
  records.find(({ data }) => data.type === "CNAME") ?? null;

const targetOf = ({ data }: TimedData): string | null => (data.type === "CNAME" ? data.target : null);

const endAt = (name: string, zone: string, { byName, cuts }: ZoneEntries): ChainEnd => {
  if (!isWithin(name, zone) || isDecided(name, zone)) return { kind: "elsewhere" };
  const closest = closestName(name, byName);
  if (cuts.has(closest)) return { kind: "given-away", cut: closest };
  const entry = byName.get(closest === name ? name : `*.${closest}`);
  if (entry === undefined) return { kind: "missing" };
  return entry.steered === null ? { kind: "ours", owner: name, entry } : { kind: "elsewhere" };
};

const isWithin = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`);

/** Labels, inquiries and challenges are found when they are asked for. */
const isDecided = (name: string, zone: string): boolean =>
  name.startsWith("why.") || name.startsWith(`${CHALLENGE_LABEL}.`) || name.endsWith(`.c.${zone}`);

/** The name, or the nearest above it that exists: the closest encloser of RFC 4592 §3.3.1. */
const closestName = (name: string, byName: ZoneEntries["byName"]): string => {
  let closest = name;
  while (!byName.has(closest)) closest = closest.slice(closest.indexOf(".") + 1);
  return closest;
};
