/** What identifies a KV block: a rolling hash of its content and of all content before it. */

/** As vLLM has it unless told otherwise; recorded traces have blocks of other sizes. */
export const BLOCK_TOKENS = 16;

/** What the first block of every sequence is chained to. */
export const ROOT_HASH = 0x1_9e37_79b9;

const TWO_32 = 0x1_0000_0000;

/**
 * Two sequences share a block's hash exactly as far as they share all their content up to it. 53 bits: among 10⁶ blocks
 * two collide with a chance of about 10⁻⁴. Not for secrets.
 *
 * @param parent the hash before this block, or ROOT_HASH
 * @param words the content as 32-bit integers; those from `from` up to `to`, excluded, are this block's
 * @returns an integer, 1 to 2⁵³ − 1
 */
export const chainHash = (parent: number, words: ArrayLike<number>, from: number, to: number): number => {
  let low = parent | 0;
  let high = Math.floor(parent / TWO_32) | 0;
  for (let at = from; at < to; at++) {
    const word = words[at] ?? 0;
    low = Math.imul(rotate(low ^ word, 15), 0x85ebca6b);
    high = Math.imul(rotate(high ^ word, 13) + low, 0xc2b2ae35);
  }
  low = finish(low ^ high);
  high = finish(high + low);
  return (high >>> 11) * TWO_32 + (low >>> 0) || 1;
};

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** murmur3's finaliser. */
const finish = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
};
