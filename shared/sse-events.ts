/** Server-sent events that pass by in chunks, cut where one ends: whoever adds an event of his own must not write into another. */

/** The longest beginning of an event that is waited for; what is longer passes in parts. */
const MOST_KEPT_OCTETS = 65_536;

const LF = 0x0a;
const CR = 0x0d;
const NONE: Uint8Array = new Uint8Array(0);

export type SseCut = {
  /** @returns what may pass: up to the end of the last whole event. A client can do nothing with the rest yet. */
  readonly pass: (chunk: Uint8Array) => Uint8Array;
  /** What is left of an event that was not ended. */
  readonly rest: () => Uint8Array;
  /** Whether nothing of an event without end has passed: an event may be written now. */
  readonly isBetween: () => boolean;
};

export const createSseCut = (): SseCut => {
  let kept: Uint8Array = NONE;
  let isTorn = false;

  const keep = (chunk: Uint8Array): void => {
    // A copy: the octets belong to whoever read them.
    kept = chunk.length === 0 ? NONE : kept.length === 0 ? Uint8Array.from(chunk) : joined(kept, chunk);
  };

  return {
    pass: (chunk) => {
      const all = kept.length === 0 ? chunk : joined(kept, chunk);
      kept = NONE;
      const end = endOfLastEvent(all);
      const isLong = all.length - end > MOST_KEPT_OCTETS;
      // The rest of an event that is too long passes at once, until one ends.
      if (isLong || (end === 0 && isTorn)) {
        isTorn = true;
        return all;
      }
      if (end > 0) isTorn = false;
      keep(all.subarray(end));
      return end === all.length ? all : all.subarray(0, end);
    },
    rest: () => kept,
    isBetween: () => !isTorn,
  };
};

/** 0: no event ends here. Lines end with LF, CR LF, or CR (HTML §9.2.6); an event ends with an empty line. */
const endOfLastEvent = (octets: Uint8Array): number => {
  for (let at = octets.length - 1; at > 0; at--) {
    const octet = octets[at];
    if (octet !== LF && octet !== CR) continue;
    if (endsEvent(octets, at)) return at + 1;
  }
  return 0;
};

/** Whether the line end at `at` ends an empty line. */
const endsEvent = (octets: Uint8Array, at: number): boolean => {
  const before = octets[at - 1];
  if (octets[at] === CR) return octets[at + 1] !== LF && (before === CR || before === LF);
  if (before === LF) return true;
  return before === CR && at >= 2 && (octets[at - 2] === LF || octets[at - 2] === CR);
};

const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
};
