/** Answers to challenges of certificate authorities: the TXT values of `_acme-challenge` names, while there are some (RFC 8555 §8.4). */
import { isChallengeLabel } from "./challenge-label.ts";
import { encodeImage } from "./codec.ts";
import { type DnsQuery, HEADER_OCTETS } from "./dns-query.ts";
import type { Image } from "./image.ts";
import { labelText } from "./name.ts";
import type { Negative } from "./negative.ts";
import { RCODE, TYPE } from "./record-type.ts";
import { ANY_ANSWER } from "./zone-names.ts";

/** @returns null: the name has no values, and is what it would be without them */
export type ChallengeAnswers = (query: DnsQuery) => Image | null;

/** A second value may join the first at any moment: a resolver that keeps the first alone fails the second's order. */
const TTL_SECONDS = 1;

/** @param textsOf the same array until they change */
export const createChallengeAnswers = (
  textsOf: (name: string) => readonly string[] | null,
  negative: Pick<Negative, "nodata">,
): ChallengeAnswers => {
  const images = new WeakMap<readonly string[], Image>();
  const imageOf = (texts: readonly string[]): Image => {
    const known = images.get(texts);
    if (known !== undefined) return known;
    const made = textImage(texts);
    images.set(texts, made);
    return made;
  };
  return ({ octets, nameEnd, type }) => {
    // Of all that is asked hardly anything begins so: the name is not made a string for the rest.
    if (!isChallengeLabel(octets, HEADER_OCTETS)) return null;
    const texts = textsOf(nameText(octets, nameEnd));
    if (texts === null) return null;
    if (type === TYPE.TXT) return imageOf(texts);
    return type === TYPE.ANY ? ANY_ANSWER : negative.nodata;
  };
};

const nameText = (octets: Uint8Array, end: number): string => {
  const labels: string[] = [];
  // The root's label is the last octet.
  for (let at = HEADER_OCTETS; at < end - 1; at += 1 + (octets[at] ?? 0)) {
    const label = labelText(octets, at);
    // A dot within a label must not be taken for one between two.
    if (label.includes(".")) return "";
    labels.push(label);
  }
  return labels.join(".");
};

const textImage = (texts: readonly string[]): Image =>
  encodeImage({
    rcode: RCODE.NOERROR,
    isAuthoritative: true,
    error: null,
    answers: texts.map((text) => ({
      owner: "question",
      ttlSeconds: TTL_SECONDS,
      data: { type: "TXT", texts: [text] },
    })),
    authority: [],
    additional: [],
  });
