/** Weighs what is no text in a prompt: images, sounds and files, which travel as long strings in base64. */

export type BlobScale = {
  /** A part of a string; its parts come in order. */
  readonly add: (chunk: Buffer, from: number, end: number) => void;
  readonly endString: () => void;
  /** Octets of strings that are no text. */
  readonly blobBytes: () => number;
};

/** Text of this length has a space, an escape or a letter beyond ASCII near every place; base64 has none anywhere. */
const BLOB_OCTETS = 4_096;
const SAMPLE_OCTETS = 256;
/** Room for "data:image/png;base64,". */
const DATA_URL_HEAD_OCTETS = 64;

export const createBlobScale = (): BlobScale => {
  let octets = 0;
  let isText = false;
  let blobBytes = 0;
  return {
    add: (chunk, from, end) => {
      const head = Math.max(0, DATA_URL_HEAD_OCTETS - octets);
      for (let at = Math.max(end - SAMPLE_OCTETS, from + head); at < end && !isText; at++) {
        isText = !isOfBase64(chunk[at] ?? 0);
      }
      octets += end - from;
    },
    endString: () => {
      if (!isText && octets >= BLOB_OCTETS) blobBytes += octets;
      octets = 0;
      isText = false;
    },
    blobBytes: () => blobBytes,
  };
};

/** RFC 4648 §4 and §5. */
const isOfBase64 = (octet: number): boolean =>
  (octet >= 0x61 && octet <= 0x7a) ||
  (octet >= 0x41 && octet <= 0x5a) ||
  (octet >= 0x2f && octet <= 0x39) ||
  octet === 0x2b ||
  octet === 0x2d ||
  octet === 0x3d ||
  octet === 0x5f;
