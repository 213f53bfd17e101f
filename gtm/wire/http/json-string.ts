/** Where a JSON string ends: the next quote that no backslash escapes. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Most strings of JSON are short: for so many octets a loop beats the native search. */
const LOOP_OCTETS = 32;

export type QuoteFinder = {
  /**
   * Index of the quote that ends a string; −1 when it is not in this chunk.
   *
   * @param from first octet of the string's content in this chunk; the octet before it escapes nothing
   */
  readonly closing: (chunk: Buffer, from: number) => number;
  /** The chunk is over. */
  readonly forget: () => void;
};

/** For chunks one after the other: each is forgotten before the next comes. */
export const createQuoteFinder = (): QuoteFinder => {
  let text: string | null = null;
  return {
    closing: (chunk, from) => {
      let start = from;
      let at = text === null ? nextQuote(chunk, start) : text.indexOf('"', start);
      while (at !== -1 && backslashesBefore(chunk, start, at) % 2 === 1) {
        start = at + 1;
        // Escaped quotes come in rows, and a search in a string costs a fraction of one in a buffer: it is made once a chunk.
        text ??= chunk.toString("latin1");
        at = text.indexOf('"', start);
      }
      return at;
    },
    forget: () => {
      text = null;
    },
  };
};

/** Whether the first octet of the next chunk is escaped. @param from as in `closing` */
export const endsEscaping = (chunk: Buffer, from: number): boolean =>
  backslashesBefore(chunk, from, chunk.length) % 2 === 1;

const backslashesBefore = (chunk: Buffer, from: number, end: number): number => {
  let at = end;
  while (at > from && chunk[at - 1] === BACKSLASH) at -= 1;
  return end - at;
};

const nextQuote = (chunk: Buffer, from: number): number => {
  const end = Math.min(from + LOOP_OCTETS, chunk.length);
  for (let at = from; at < end; at++) if (chunk[at] === QUOTE) return at;
  return chunk.indexOf(QUOTE, end);
};
