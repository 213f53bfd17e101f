/**
 * Base32 with the extended hex alphabet (RFC 4648 §7), lower case, without padding: what fits into a DNS label and sorts like its octets.
 * Written here because no dependency offers it and packages that do treat case and stray bits as they please; a token must have one spelling.
 */

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";

/** Two digits at a time: a text that grows by one costs an object for each. */
const PAIRS = Array.from({ length: 1_024 }, (_, value) => `${ALPHABET[value >>> 5]}${ALPHABET[value & 31]}`);

/** @returns ⌈octets × 8 ÷ 5⌉ characters */
export const encodeBase32hex = (octets: Uint8Array): string => {
  let text = "";
  let bits = 0;
  let held = 0;
  for (let at = 0; at < octets.length; at++) {
    held = (held << 8) | (octets[at] ?? 0);
    bits += 8;
    if (bits >= 10) {
      bits -= 10;
      text += PAIRS[(held >>> bits) & 1_023];
      held &= (1 << bits) - 1;
    }
  }
  if (bits >= 5) {
    bits -= 5;
    text += ALPHABET[(held >>> bits) & 31];
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
};

/** @returns null where a character is foreign, a character is too many, or unused bits are set; upper case is read as lower */
export const decodeBase32hex = (text: string): Uint8Array | null => {
  const octets = new Uint8Array(Math.floor((text.length * 5) / 8));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = digitOf(text.charCodeAt(i));
    if (digit === -1) return null;
    held = (held << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      octets[at++] = held >>> bits;
      held &= (1 << bits) - 1;
    }
  }
  return bits < 5 && held === 0 ? octets : null;
};

/** By code unit and not by letter case rules: only ASCII has a value here. */
const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return code < 0x80 && lower >= 0x61 && lower <= 0x76 ? lower - 0x61 + 10 : -1;
};
