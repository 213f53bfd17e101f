/** The signature of what a region says: HMAC-SHA-256 with the region's report key over its canonical JSON (RFC 8785) without `mac`. */
import { createHmac, timingSafeEqual } from "node:crypto";
import canonicalize from "canonicalize";
import { OperationalError } from "./errors.ts";

/** A report of its agent, or a batch of turns that its gateway measured. */
export type RegionsWord = { readonly mac: string | null };

/**
 * @returns the same with its `mac`: 64 hexadecimal digits, lower case
 * @throws {OperationalError} AGENT_PAYLOAD_INVALID when an engine's words have no canonical form, such as half a surrogate pair
 */
export const signedWith = <Word extends RegionsWord>(word: Word, key: Uint8Array): Word => {
  const text = canonicalTextOf(word);
  if (text instanceof Error) {
    throw new OperationalError("AGENT_PAYLOAD_INVALID", `this cannot be signed: ${text.message}`, { cause: text });
  }
  return { ...word, mac: macOf(text, key).toString("hex") };
};

/**
 * Fields that this version does not know are signed too, and those that it fills in are not: verify what came, not what was made of it.
 *
 * @param keys any of them may have signed it: a region has two while its key changes
 * @returns false also for what has no canonical form: nobody can have signed it
 */
export const isSignedWith = (word: RegionsWord, keys: readonly Uint8Array[]): boolean => {
  if (word.mac === null || !/^[0-9a-f]{64}$/.test(word.mac)) return false;
  const text = canonicalTextOf(word);
  if (text instanceof Error) return false;
  const claimed = Buffer.from(word.mac, "hex");
  return keys.some((key) => timingSafeEqual(claimed, macOf(text, key)));
};

const macOf = (canonicalText: string, key: Uint8Array): Buffer =>
  createHmac("sha256", key).update(canonicalText, "utf8").digest();

/** canonicalize throws at what RFC 8785 does not allow, and runs out of stack where JSON is nested without end. */
const canonicalTextOf = (word: RegionsWord): string | Error => {
  const { mac: _, ...signed } = word;
  try {
    return String(canonicalize(signed));
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault));
  }
};
