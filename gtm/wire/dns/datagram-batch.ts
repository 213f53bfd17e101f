/** The memory of a batch of datagrams: arrays of struct mmsghdr as recvmmsg(2) fills and sendmmsg(2) reads them, with all they point to. */
import { SOCKADDR_OCTETS } from "./socket-address.ts";

/** Of struct mmsghdr, struct iovec on 64 bits. Each field at its place below; glibc and musl agree where integers are little-endian. */
const HEADER_OCTETS = 64;
const NAME_LENGTH_AT = 8;
const VECTORS_AT = 16;
const VECTOR_COUNT_AT = 24;
const LENGTH_AT = 56;
const VECTOR_OCTETS = 16;
const VECTOR_LENGTH_AT = 8;
/** SOCKADDR_OCTETS, aligned. */
const NAME_OCTETS = 32;

export type DatagramBatch = {
  /** Where the i-th one's header lies, for a call. */
  readonly headerAt: (i: number) => bigint;
  /** What datagrams and names lie in. */
  readonly memory: Buffer;
  /** Where in `memory` the i-th one's struct sockaddr is. */
  readonly nameAt: (i: number) => number;
  /** All the octets that the i-th one may have. */
  readonly spaceOf: (i: number) => Buffer;
  /** The i-th one as it was received; read before the next call. */
  readonly received: (i: number) => Buffer;
  /** Lets the i-th one take a name and `octets` of a datagram: before it is sent, and before it receives again. */
  readonly prepare: (i: number, nameOctets: number, octets: number) => void;
  /** How many octets the kernel wrote of the i-th one's name. */
  readonly nameLength: (i: number) => number;
};

/** Views of datagrams up to this length are made once: every datagram needs one, and hardly any is longer. */
const LONGEST_KEPT_VIEW = 512;

/**
 * @param count datagrams
 * @param octets of the longest; what is longer is cut by the kernel
 * @param addressOf where the memory lies, which stays there while the batch is referred to
 */
export const createDatagramBatch = (
  count: number,
  octets: number,
  addressOf: (memory: ArrayBuffer) => bigint,
): DatagramBatch => {
  const vectorsFrom = count * HEADER_OCTETS;
  const namesFrom = vectorsFrom + count * VECTOR_OCTETS;
  const datagramsFrom = namesFrom + count * NAME_OCTETS;
  const buffer = new ArrayBuffer(datagramsFrom + count * octets);
  const at = addressOf(buffer);
  const memory = Buffer.from(buffer);
  const words = new Uint32Array(buffer, 0, datagramsFrom / 4);
  const point = (from: number, to: number): void => {
    memory.writeBigUInt64LE(at + BigInt(to), from);
  };
  const nameAt = (i: number): number => namesFrom + i * NAME_OCTETS;
  const datagramAt = (i: number): number => datagramsFrom + i * octets;
  const prepare = (i: number, nameOctets: number, length: number): void => {
    words[(i * HEADER_OCTETS + NAME_LENGTH_AT) / 4] = nameOctets;
    words[(vectorsFrom + i * VECTOR_OCTETS + VECTOR_LENGTH_AT) / 4] = length;
  };
  for (let i = 0; i < count; i++) {
    const header = i * HEADER_OCTETS;
    const vector = vectorsFrom + i * VECTOR_OCTETS;
    point(header, nameAt(i));
    point(header + VECTORS_AT, vector);
    memory.writeBigUInt64LE(1n, header + VECTOR_COUNT_AT);
    point(vector, datagramAt(i));
    prepare(i, SOCKADDR_OCTETS, octets);
  }
  const headers = Array.from({ length: count }, (_, i) => at + BigInt(i * HEADER_OCTETS));
  const views: Buffer[][] = Array.from({ length: count }, () => []);
  const spaces = Array.from({ length: count }, (_, i) => memory.subarray(datagramAt(i), datagramAt(i) + octets));
  const spaceOf = (i: number): Buffer => spaces[i] as Buffer;
  return {
    ...{ memory, nameAt, spaceOf, prepare },
    headerAt: (i) => headers[i] as bigint,
    received: (i) => {
      const length = words[(i * HEADER_OCTETS + LENGTH_AT) / 4] ?? 0;
      if (length > LONGEST_KEPT_VIEW) return spaceOf(i).subarray(0, length);
      const kept = views[i] as Buffer[];
      kept[length] ??= spaceOf(i).subarray(0, length);
      return kept[length];
    },
    nameLength: (i) => words[(i * HEADER_OCTETS + NAME_LENGTH_AT) / 4] ?? 0,
  };
};
