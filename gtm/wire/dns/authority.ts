/** What a name of the zone is: one that exists, a conversation's label, an inquiry, nothing, or none of our business. */
import { isChallengeLabel } from "./challenge-label.ts";
import { type DnsQuery, HEADER_OCTETS } from "./dns-query.ts";
import { createGenerations } from "./generations.ts";
import { type Labelled, labelled } from "./labels.ts";
import { encodeName, foldOctet, hashName, isLabelText, isWithin, labelText, matchesName } from "./name.ts";
import type { ZoneName } from "./zone-names.ts";

/** What an inquiry (`why.<name>`) can be about. */
export type Subject =
  | { readonly kind: "known"; readonly name: ZoneName }
  /** `<label>.c.<zone>`. */
  | Labelled;

export type Target =
  | Subject
  | { readonly kind: "why"; readonly of: Subject }
  /** In the zone, and no such name. */
  | { readonly kind: "missing" }
  | { readonly kind: "outside" };

export type Authority = { readonly find: (query: DnsQuery) => Target };

type Known = Extract<Subject, { kind: "known" }>;
type Entry = {
  readonly folded: Uint8Array;
  readonly target: Known;
  /** What names below it are that are not in the table. */
  readonly below: Target;
  readonly next: Entry | null;
};

const MISSING: Target = { kind: "missing" };
const OUTSIDE: Target = { kind: "outside" };

/** RFC 1035 §2.3.4: 255 octets, of which a label takes two or more. */
const MOST_LABELS = 128;
/** Conversations' labels that were asked for lately, about two hundred octets each: no string is made of them again. */
const MOST_RECENT = 32_768;

/**
 * @param names by name, without the trailing dot; with a name those above it are in it, down from the zone's
 * @param hasInquiries whether `why.<name>` means anything
 */
export const createAuthority = (
  zone: string,
  names: ReadonlyMap<string, ZoneName>,
  hasInquiries: boolean,
): Authority => {
  const apex = foldedName(zone);
  const labelParent = foldedName(`c.${zone}`);
  const inquiry = foldedName("why").subarray(0, -1);
  const table = tableOf(names);
  const labelsAt = new Uint8Array(MOST_LABELS);

  const entryOf = (octets: Uint8Array, start: number, end: number): Entry | null => {
    let entry = table.get(hashName(octets, start, end)) ?? null;
    while (entry !== null) {
      if (entry.folded.length === end - start && matchesName(octets, start, entry.folded)) return entry;
      entry = entry.next;
    }
    return null;
  };
  const apexEntry = entryOf(apex, 0, apex.length);
  /** By the nearest name above that exists (RFC 4592 §3.3.1): looked for from the zone's down, as deep as there are names. */
  const absent = (octets: Uint8Array, end: number): Target => {
    let labels = 0;
    for (let at = HEADER_OCTETS; end - at > apex.length; at += 1 + (octets[at] ?? 0)) {
      labelsAt[labels++] = at - HEADER_OCTETS;
    }
    let closest = apexEntry;
    // The first is the whole name, which is known not to be there.
    while (labels > 1) {
      const entry = entryOf(octets, HEADER_OCTETS + (labelsAt[--labels] ?? 0), end);
      if (entry === null) break;
      closest = entry;
    }
    return closest?.below ?? MISSING;
  };
  const isLabel = (octets: Uint8Array, start: number, end: number): boolean => {
    const parentAt = start + 1 + (octets[start] ?? 0);
    // A challenge's name is no conversation: without values it is not there.
    if (end - parentAt !== labelParent.length || isChallengeLabel(octets, start)) return false;
    return matchesName(octets, parentAt, labelParent);
  };
  const recent = createGenerations<Labelled>(MOST_RECENT);
  const labelAt = (octets: Uint8Array, start: number): Labelled => {
    const hash = hashName(octets, start, start + 1 + (octets[start] ?? 0));
    const known = recent.get(0, hash);
    // Of two labels with one hash the later takes the place: that costs the other a string, no more.
    if (known !== undefined && isLabelText(octets, start, known.label)) return known;
    const made = labelled(labelText(octets, start));
    recent.add(0, hash, made);
    return made;
  };
  const hasNamesBelowLabels = [...names.keys()].some((name) => name.toLowerCase().endsWith(`.c.${zone.toLowerCase()}`));
  /** Whatever label is asked for exists: a negative answer would be kept and hide the conversation when it begins. */
  const subject = (octets: Uint8Array, start: number, end: number): Subject | null => {
    // Where the table has nothing there it need not be asked.
    if (!hasNamesBelowLabels && isLabel(octets, start, end)) return labelAt(octets, start);
    return entryOf(octets, start, end)?.target ?? (isLabel(octets, start, end) ? labelAt(octets, start) : null);
  };

  return {
    find: ({ octets, nameEnd }) => {
      const found = subject(octets, HEADER_OCTETS, nameEnd);
      if (found !== null) return found;
      if (!isWithin(octets, HEADER_OCTETS, nameEnd, apex)) return OUTSIDE;
      if (!hasInquiries || !matchesName(octets, HEADER_OCTETS, inquiry)) return absent(octets, nameEnd);
      const of = subject(octets, HEADER_OCTETS + inquiry.length, nameEnd);
      // Below a cut nothing is ours to tell.
      const isOurs = of !== null && (of.kind === "label" || !of.name.isCut);
      return isOurs ? { kind: "why", of } : absent(octets, nameEnd);
    },
  };
};

const foldedName = (name: string): Uint8Array => encodeName(name).map(foldOctet);

const tableOf = (names: ReadonlyMap<string, ZoneName>): ReadonlyMap<number, Entry> => {
  const table = new Map<number, Entry>();
  for (const [name, zoneName] of names) {
    const folded = foldedName(name);
    const hash = hashName(folded, 0, folded.length);
    const below: Target = zoneName.below === null ? MISSING : { kind: "known", name: zoneName.below };
    table.set(hash, { folded, target: { kind: "known", name: zoneName }, below, next: table.get(hash) ?? null });
  }
  return table;
};
