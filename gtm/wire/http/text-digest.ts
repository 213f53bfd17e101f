/**
 * A digest of texts that pass by as JSON strings, whatever way their letters are escaped. Nothing is kept of them but a window
 * of 2 KB. Of a long text the beginning and the end are looked at: to undo the escapes of all of it would cost more than to
 * read it (test/bench/http-identity.bench.ts), and two texts that agree in both share a cache anyway.
 */
import { createHash, type Hash } from "node:crypto";
import { endUnescape, MOST_ADDED_OCTETS, newUnescaping, unescapeInto } from "./json-unescape.ts";

export type TextDigest = {
  /** A part of a string as it is written, without its quotes; parts come in order. */
  readonly add: (chunk: Buffer, from: number, end: number) => void;
  readonly endString: () => void;
  /** 32 octets. */
  readonly digest: () => Buffer;
  /** Octets of text heard, at most as many as are looked at. */
  readonly octets: () => number;
};

/** About 8 000 tokens. */
const HEAD_OCTETS = 32_768;
const TAIL_OCTETS = 256;
/** Octets that `TAIL_OCTETS` of text are written with at most, and a letter that was cut. */
const WINDOW_OCTETS = 2_048;
/** Stands in no UTF-8. */
const SEPARATOR = Buffer.from([0xff]);

/** Used by one call at a time, and empty between calls. */
const scratch = Buffer.allocUnsafe(4_096 + MOST_ADDED_OCTETS);
const STEP_OCTETS = scratch.length - MOST_ADDED_OCTETS;

/** @param cutAfter index behind which the text is over, of what is passed to it; −1: nowhere. null: texts are heard to their end */
export const createTextDigest = (cutAfter: ((text: Buffer) => number) | null = null): TextDigest => {
  const sum: Hash = createHash("sha256");
  const escapes = newUnescaping();
  let room = HEAD_OCTETS;
  let isCut = false;
  let isBeyond = false;
  /** As it is written, of this digest and of this string. */
  let written = 0;
  let window: Window | null = null;

  /** What `scratch` holds up to `length`. */
  const hear = (length: number): void => {
    const text = scratch.subarray(0, length);
    const end = cutAfter?.(text) ?? -1;
    if (end !== -1) isCut = true;
    const heard = Math.min(end === -1 ? length : end, room);
    if (heard < length && end === -1) isBeyond = true;
    room -= heard;
    if (heard > 0) sum.update(text.subarray(0, heard));
  };

  const add = (chunk: Buffer, from: number, end: number): void => {
    if (isCut) return;
    written += end - from;
    // A text is never longer than it is written, so what ends before this needs no window.
    if (written > HEAD_OCTETS - WINDOW_OCTETS) {
      window ??= createWindow();
      window.add(chunk, from, end);
    }
    for (let at = from; at < end && !isBeyond && !isCut; at += STEP_OCTETS) {
      hear(unescapeInto(escapes, chunk, at, Math.min(end, at + STEP_OCTETS), scratch, 0));
    }
  };

  return {
    add,
    endString: () => {
      if (!isCut && !isBeyond) hear(endUnescape(escapes, scratch, 0));
      if (!isCut && isBeyond && window !== null) sum.update(window.end());
      window?.clear();
      Object.assign(escapes, newUnescaping());
      sum.update(SEPARATOR);
    },
    digest: () => sum.digest(),
    octets: () => HEAD_OCTETS - room,
  };
};

type Window = {
  readonly add: (chunk: Buffer, from: number, end: number) => void;
  /** The end of the text. */
  readonly end: () => Buffer;
  readonly clear: () => void;
};

const createWindow = (): Window => {
  const octets = Buffer.allocUnsafe(2 * WINDOW_OCTETS);
  let length = 0;
  return {
    add: (chunk, from, end) => {
      const start = Math.max(from, end - WINDOW_OCTETS);
      if (length + end - start > octets.length) {
        octets.copyWithin(0, length - WINDOW_OCTETS, length);
        length = WINDOW_OCTETS;
      }
      length += chunk.copy(octets, length, start, end);
    },
    end: () => {
      const text = Buffer.allocUnsafe(WINDOW_OCTETS + MOST_ADDED_OCTETS);
      const state = newUnescaping();
      const to = unescapeInto(state, octets, Math.max(0, length - WINDOW_OCTETS), length, text, 0);
      const end = endUnescape(state, text, to);
      return text.subarray(Math.max(0, end - TAIL_OCTETS), end);
    },
    clear: () => {
      length = 0;
    },
  };
};
