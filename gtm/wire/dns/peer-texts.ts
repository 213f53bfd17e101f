/** Addresses of peers as texts, each made once while the same resolvers ask again. */
import { addressTextOf } from "./socket-address.ts";

export type PeerTexts = {
  /** @param at of a struct sockaddr in `memory` @returns "" where it is of neither IPv4 nor IPv6 */
  readonly textOf: (memory: Uint8Array, at: number) => string;
};

const AF_INET = 2;
/** A power of two. */
const KEPT = 4_096;
/** Knuth, The Art of Computer Programming, volume 3, 6.4: multiplicative hashing by the golden ratio. */
const GOLDEN = 0x9e3779b1;

/** IPv4 alone is kept, each address at one place: a flood from forged ones costs others a text made again, and no memory. */
export const createPeerTexts = (): PeerTexts => {
  const addresses = new Uint32Array(KEPT);
  const texts: (string | undefined)[] = Array.from({ length: KEPT });
  return {
    textOf: (memory, at) => {
      if (memory[at] !== AF_INET) return addressTextOf(memory, at);
      const address =
        (((memory[at + 4] ?? 0) << 24) |
          ((memory[at + 5] ?? 0) << 16) |
          ((memory[at + 6] ?? 0) << 8) |
          (memory[at + 7] ?? 0)) >>>
        0;
      const place = (Math.imul(address, GOLDEN) >>> 20) & (KEPT - 1);
      const kept = texts[place];
      if (kept !== undefined && addresses[place] === address) return kept;
      const text = addressTextOf(memory, at);
      addresses[place] = address;
      texts[place] = text;
      return text;
    },
  };
};
