/** Where challenges of certificate authorities can be answered: in front of every name of the zone that can have a certificate. */
import { CHALLENGE_LABEL } from "./challenge-label.ts";
import { steeredNames } from "./steered-name.ts";
import type { ZoneContents } from "./zone-contents.ts";
import { zoneEntries } from "./zone-entries.ts";

/** RFC 1035 §2.3.4, as text without the trailing dot. */
const LONGEST_NAME = 253;

/**
 * Names that exist, wherever they come from: `_acme-challenge` below one that does not would make it exist. Not names that other
 * servers answer for, and not where the owner keeps records: an alias there leads challenges to somewhere else already.
 *
 * @returns lower case, without the trailing dot
 */
export const challengeNames = (contents: ZoneContents): ReadonlySet<string> => {
  const { byName, cuts } = zoneEntries(contents, steeredNames(contents));
  const isFree = (name: string): boolean => !byName.has(name) && name.length <= LONGEST_NAME;
  return new Set(
    [...byName.keys()]
      .filter((host) => !cuts.has(host) && !isOfNoHost(host))
      .map((host) => `${CHALLENGE_LABEL}.${host}`)
      .filter(isFree),
  );
};

/** A wildcard's challenge stands at the name above it; no certificate names a challenge. */
const isOfNoHost = (name: string): boolean => name.startsWith("*.") || name.split(".").includes(CHALLENGE_LABEL);
