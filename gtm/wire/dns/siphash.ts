/**
 * SipHash-2-4 with 64 bits of output, which makes DNS cookies (RFC 9018 §4.4). Written here although npm has `siphash`: that
 * one makes some hundred objects a hash, on a path that every query with a cookie takes, and comes without types.
 */

/** A secret of 16 octets, read as four little-endian words. */
export type SipKey = Int32Array;

const SIP_KEY_OCTETS = 16;
export const SIP_HASH_OCTETS = 8;
/** What cookies are made of is shorter. */
const MOST_DATA_OCTETS = 63;

/** @throws {RangeError} for another length: what reads keys refuses it, so this is a bug */
export const sipKey = (secret: Uint8Array): SipKey => {
  if (secret.length !== SIP_KEY_OCTETS) throw new RangeError(`expected ${SIP_KEY_OCTETS} octets, got ${secret.length}`);
  return Int32Array.from({ length: 4 }, (_, i) => word(secret, i * 4, secret.length));
};

/** The data as words, low half of each block first; one hash runs to its end before the next begins. */
const words = new Int32Array(((MOST_DATA_OCTETS + 1) / 8 + 1) * 2);

/**
 * @param length of the data, 63 or less
 * @param out takes 8 octets from `outAt`, little-endian as the reference implementation writes them
 */
export const sipHash = (key: SipKey, data: Uint8Array, length: number, out: Uint8Array, outAt: number): void => {
  // 64 bits in two halves each; as local variables, which makes it three times as fast as in an array.
  let v0l = at(key, 0) ^ 0x70736575;
  let v0h = at(key, 1) ^ 0x736f6d65;
  let v1l = at(key, 2) ^ 0x6e646f6d;
  let v1h = at(key, 3) ^ 0x646f7261;
  let v2l = at(key, 0) ^ 0x6e657261;
  let v2h = at(key, 1) ^ 0x6c796765;
  let v3l = at(key, 2) ^ 0x79746573;
  let v3h = at(key, 3) ^ 0x74656462;
  const finish = readWords(data, length);
  for (let block = 0; block <= finish; block++) {
    const low = at(words, block * 2);
    const high = at(words, block * 2 + 1);
    v3l ^= low;
    v3h ^= high;
    if (block === finish) v2l ^= 0xff;
    for (let round = block === finish ? 4 : 2; round > 0; round--) {
      let sum = (v0l >>> 0) + (v1l >>> 0);
      v0h = (v0h + v1h + carry(sum)) | 0;
      v0l = sum | 0;
      let turned = (v1l << 13) | (v1h >>> 19);
      v1h = ((v1h << 13) | (v1l >>> 19)) ^ v0h;
      v1l = turned ^ v0l;
      turned = v0l;
      v0l = v0h;
      v0h = turned;

      sum = (v2l >>> 0) + (v3l >>> 0);
      v2h = (v2h + v3h + carry(sum)) | 0;
      v2l = sum | 0;
      turned = (v3l << 16) | (v3h >>> 16);
      v3h = ((v3h << 16) | (v3l >>> 16)) ^ v2h;
      v3l = turned ^ v2l;

      sum = (v0l >>> 0) + (v3l >>> 0);
      v0h = (v0h + v3h + carry(sum)) | 0;
      v0l = sum | 0;
      turned = (v3l << 21) | (v3h >>> 11);
      v3h = ((v3h << 21) | (v3l >>> 11)) ^ v0h;
      v3l = turned ^ v0l;

      sum = (v2l >>> 0) + (v1l >>> 0);
      v2h = (v2h + v1h + carry(sum)) | 0;
      v2l = sum | 0;
      turned = (v1l << 17) | (v1h >>> 15);
      v1h = ((v1h << 17) | (v1l >>> 15)) ^ v2h;
      v1l = turned ^ v2l;
      turned = v2l;
      v2l = v2h;
      v2h = turned;
    }
    v0l ^= low;
    v0h ^= high;
  }
  writeWord(out, outAt, v0l ^ v1l ^ v2l ^ v3l);
  writeWord(out, outAt + 4, v0h ^ v1h ^ v2h ^ v3h);
};

/** The last block of data ends with the length's lowest octet; a block of nothing finishes. @returns which that is */
const readWords = (data: Uint8Array, length: number): number => {
  const last = length >>> 3;
  for (let i = 0; i < (last + 1) * 2; i++) words[i] = word(data, i * 4, length);
  words[last * 2 + 1] = at(words, last * 2 + 1) | (length << 24);
  words.fill(0, (last + 1) * 2, (last + 2) * 2);
  return last + 1;
};

const at = (numbers: Int32Array, i: number): number => numbers[i] ?? 0;

const carry = (sum: number): number => (sum > 0xffff_ffff ? 1 : 0);

/** What lies beyond the end is 0. */
const word = (octets: Uint8Array, from: number, end: number): number => {
  let value = 0;
  for (let i = Math.min(3, end - from - 1); i >= 0; i--) value = (value << 8) | (octets[from + i] ?? 0);
  return value;
};

const writeWord = (out: Uint8Array, from: number, value: number): void => {
  for (let i = 0; i < 4; i++) out[from + i] = value >>> (8 * i);
};
