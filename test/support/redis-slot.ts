/** The Redis Cluster slot of a key: CRC-16/XMODEM of its hash tag, modulo 16 384 (Redis Cluster specification). */

export const SLOT_COUNT = 16_384;

/** @returns 0 to 16 383 */
export const slotOf = (key: string): number => crc16(Buffer.from(hashTagOf(key))) % SLOT_COUNT;

/** Between the first `{` and the next `}`, unless that is nothing. */
const hashTagOf = (key: string): string => {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
};

const crc16 = (bytes: Uint8Array): number => {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc;
};
