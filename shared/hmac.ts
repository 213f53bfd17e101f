/**
 * HMAC-SHA-256 (RFC 2104) for a key that is used over and over. Node's createHmac makes native objects for every message,
 * which costs three times what hashing does (test/bench/pin-token.bench.ts).
 */
import { hash } from "node:crypto";

const BLOCK_OCTETS = 64;
const DIGEST_OCTETS = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** @returns 32 octets, the caller's own */
export type Hmac = (message: string | Uint8Array) => Buffer;

export const createHmacSha256 = (key: Uint8Array): Hmac => {
  const block = Buffer.alloc(BLOCK_OCTETS);
  block.set(key.length > BLOCK_OCTETS ? hash("sha256", key, "buffer") : key);
  const inner = block.map((octet) => octet ^ INNER_PAD);
  const outer = Buffer.concat([block.map((octet) => octet ^ OUTER_PAD), Buffer.alloc(DIGEST_OCTETS)]);
  return (message) => {
    const octets = typeof message === "string" ? Buffer.from(message) : message;
    // As text of one octet a character, a digest comes without a native object of its own.
    outer.write(hash("sha256", Buffer.concat([inner, octets]), "binary"), BLOCK_OCTETS, "binary");
    return Buffer.from(hash("sha256", outer, "binary"), "binary");
  };
};
