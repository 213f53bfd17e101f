/** Messages in a stream, each behind its length in two octets (RFC 1035 §4.2.2), however the stream is cut. */
import { readU16 } from "./dns-query.ts";

/** `empty`: a message of length 0; `too-long`: one beyond the most. Neither can be answered, and the stream is over. */
export type Frame = Uint8Array | "incomplete" | "empty" | "too-long";

export type Frames = {
  readonly push: (chunk: Buffer) => void;
  readonly next: () => Frame;
};

export const createFrames = (mostOctets: number): Frames => {
  let unread: Buffer = Buffer.alloc(0);
  return {
    push: (chunk) => {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    },
    next: () => {
      if (unread.length < 2) return "incomplete";
      const length = readU16(unread, 0);
      if (length === 0) return "empty";
      if (length > mostOctets) return "too-long";
      if (unread.length < 2 + length) return "incomplete";
      const frame = unread.subarray(2, 2 + length);
      unread = unread.subarray(2 + length);
      return frame;
    },
  };
};
