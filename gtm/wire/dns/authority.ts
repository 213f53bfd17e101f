/** What a name of the zone is: one that exists, a conversation's label, an inquiry, nothing, or none of our business. */
import { type DnsQuery, HEADER_OCTETS } from "./dns-query.ts";
import { encodeName, foldOctet, hashName, isWithin, labelText, matchesName } from "./name.ts";
import type { ZoneName } from "./zone-names.ts";

/** What an inquiry (`why.<name>`) can be about. */
export type Subject =
  | { readonly kind: "known"; readonly name: ZoneName }
  /** `<label>.c.<zone>`; the label lower-cased, one character an octet. */
  | { readonly kind: "label"; readonly label: string };

export type Target =
  | Subject
  | { readonly kind: "why"; readonly of: Subject }
  /** In the zone, and no such name. */
  | { readonly kind: "missing" }
  | { readonly kind: "outside" };

export type Authority = { readonly find: (query: DnsQuery) => Target };

type Entry = { readonly folded: Uint8Array; readonly target: Subject; readonly next: Entry | null };

const MISSING: Target = { kind: "missing" };
const OUTSIDE: Target = { kind: "outside" };

/** @param names by name, without the trailing dot */
export const createAuthority = (zone: string, names: ReadonlyMap<string, ZoneName>): Authority => {
  const apex = foldedName(zone);
  const labelParent = foldedName(`c.${zone}`);
  const inquiry = foldedName("why").subarray(0, -1);
  const table = tableOf(names);

  const known = (octets: Uint8Array, start: number, end: number): Subject | null => {
    let entry = table.get(hashName(octets, start, end)) ?? null;
    while (entry !== null) {
      if (entry.folded.length === end - start && matchesName(octets, start, entry.folded)) return entry.target;
      entry = entry.next;
    }
    return null;
  };
  const isLabel = (octets: Uint8Array, start: number, end: number): boolean => {
    const parentAt = start + 1 + (octets[start] ?? 0);
    return end - parentAt === labelParent.length && matchesName(octets, parentAt, labelParent);
  };
  /** Whatever label is asked for exists: a negative answer would be kept and hide the conversation when it begins. */
  const subject = (octets: Uint8Array, start: number, end: number): Subject | null =>
    known(octets, start, end) ??
    (isLabel(octets, start, end) ? { kind: "label", label: labelText(octets, start) } : null);

  return {
    find: ({ octets, nameEnd }) => {
      const found = subject(octets, HEADER_OCTETS, nameEnd);
      if (found !== null) return found;
      if (!isWithin(octets, HEADER_OCTETS, nameEnd, apex)) return OUTSIDE;
      if (!matchesName(octets, HEADER_OCTETS, inquiry)) return MISSING;
      const of = subject(octets, HEADER_OCTETS + inquiry.length, nameEnd);
      return of === null ? MISSING : { kind: "why", of };
    },
  };
};

const foldedName = (name: string): Uint8Array => encodeName(name).map(foldOctet);

const tableOf = (names: ReadonlyMap<string, ZoneName>): ReadonlyMap<number, Entry> => {
  const table = new Map<number, Entry>();
  for (const [name, zoneName] of names) {
    const folded = foldedName(name);
    const hash = hashName(folded, 0, folded.length);
    table.set(hash, { folded, target: { kind: "known", name: zoneName }, next: table.get(hash) ?? null });
  }
  return table;
};
