/** Domain names as octets: written once for the table, compared without making strings. */

/** RFC 1035 §2.3.4, the length octets and the root's included. */
const LONGEST_NAME = 255;
const LONGEST_LABEL = 63;

/**
 * A name as octets, root label included, letter case as given.
 *
 * @param text without or with the trailing dot; `\.` and `\DDD` escape (RFC 1035 §5.1); empty for the root
 * @throws {Error} when a label or the name is too long: the configuration's checks refuse it, so this is a bug
 */
export const encodeName = (text: string): Buffer => {
  const octets: number[] = [];
  for (const label of labelsOf(text)) {
    if (label.length === 0 || label.length > LONGEST_LABEL) throw new Error(`"${text}" has a label of ${label.length}`);
    octets.push(label.length, ...label);
  }
  octets.push(0);
  if (octets.length > LONGEST_NAME) throw new Error(`"${text}" is ${octets.length} octets long`);
  return Buffer.from(octets);
};

const labelsOf = (text: string): readonly (readonly number[])[] => {
  const bare = text.replace(/(?<!\\)\.$/, "");
  if (bare === "") return [];
  const labels: number[][] = [[]];
  for (const [piece, digits, escaped] of bare.matchAll(/\\(\d{3})|\\(.)|./gs)) {
    if (piece === ".") labels.push([]);
    else labels.at(-1)?.push(digits === undefined ? (escaped ?? piece).charCodeAt(0) & 0xff : Number(digits) & 0xff);
  }
  return labels;
};

/** ASCII letters only (RFC 4343 §3); length octets are below the letters, so a whole name can be folded at once. */
export const foldOctet = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet);

/** FNV-1a over the folded octets, 32 bits; for a table of names, not against an attacker. */
export const hashName = (octets: Uint8Array, start: number, end: number): number => {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ foldOctet(octets[at] ?? 0), 0x01000193);
  return hash;
};

/** Whether `octets` from `start` on, letter case aside, is the name `folded`. */
export const matchesName = (octets: Uint8Array, start: number, folded: Uint8Array): boolean => {
  for (let at = 0; at < folded.length; at++) {
    if (foldOctet(octets[start + at] ?? 0) !== folded[at]) return false;
  }
  return true;
};

/** The label that begins at `at`, lower-cased, one character an octet; in one piece, which is read faster than a sum of characters. */
export const labelText = (octets: Uint8Array, at: number): string => {
  const folded = octets.slice(at + 1, at + 1 + (octets[at] ?? 0)).map(foldOctet);
  return Buffer.from(folded).toString("latin1");
};

/** Whether `labelText` of the label that begins at `at` would be this text. */
export const isLabelText = (octets: Uint8Array, at: number, text: string): boolean => {
  if (octets[at] !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (foldOctet(octets[at + 1 + i] ?? 0) !== text.charCodeAt(i)) return false;
  return true;
};

/** Whether the name from `start` to `end` is `folded` or lies below it. */
export const isWithin = (octets: Uint8Array, start: number, end: number, folded: Uint8Array): boolean => {
  const suffixAt = end - folded.length;
  let at = start;
  // A suffix counts only from the beginning of a label on: "xgslb.example" is not below "gslb.example".
  while (at < suffixAt) at += 1 + (octets[at] ?? 0);
  return at === suffixAt && matchesName(octets, at, folded);
};
