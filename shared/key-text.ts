/** A secret key as text: base64 (RFC 4648 §4), as `openssl rand -base64 32` prints it. The alphabet of §5 is read too. */

/** Half of SHA-256's digest; shorter than this is a typing error, not a key. */
export const LEAST_KEY_OCTETS = 16;
/** Longer than this is a certificate or a photograph. */
const MOST_KEY_OCTETS = 1_024;

/** @returns null where the text is no base64, or what it holds is too short or too long for a key */
export const keyIn = (text: string): Uint8Array | null => {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  const key = Buffer.from(text, "base64");
  return key.length >= LEAST_KEY_OCTETS && key.length <= MOST_KEY_OCTETS ? key : null;
};

export const keyText = (key: Uint8Array): string => Buffer.from(key).toString("base64");
