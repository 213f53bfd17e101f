/**
 * HMAC-SHA-256 (RFC 2104) for a key that is used over and over. Node's createHmac makes native objects for every message,
 * which costs three times what hashing does (test/bench/pin-token.bench.ts).
 */
import { hash } from "node:crypto";

const BLOCK_OCTETS = 64;
const DIGEST_OCTETS = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** Names and tokens fit; what is longer is copied once more. */
const ROOM_OCTETS = 1_024;

/** @returns the code's 32 octets as text, one octet a character (latin1): it is cut and written without a native object */
export type Hmac = (message: string | Uint8Array) => string;

export const createHmacSha256 = (key: Uint8Array): Hmac => {
  const block = Buffer.alloc(BLOCK_OCTETS);
  block.set(key.length > BLOCK_OCTETS ? hash("sha256", key, "buffer") : key);
  const inner = Buffer.concat([block.map((octet) => octet ^ INNER_PAD), Buffer.alloc(ROOM_OCTETS)]);
  const outer = Buffer.concat([block.map((octet) => octet ^ OUTER_PAD), Buffer.alloc(DIGEST_OCTETS)]);

  const behindInner = (message: string | Uint8Array): Buffer => {
    const octets = typeof message === "string" ? Buffer.byteLength(message) : message.length;
    const whole = octets > ROOM_OCTETS ? Buffer.concat([inner], BLOCK_OCTETS + octets) : inner;
    if (typeof message === "string") whole.write(message, BLOCK_OCTETS);
    else whole.set(message, BLOCK_OCTETS);
    return whole.subarray(0, BLOCK_OCTETS + octets);
  };

  return (message) => {
    outer.write(hash("sha256", behindInner(message), "binary"), BLOCK_OCTETS, "latin1");
    return hash("sha256", outer, "binary");
  };
};
