/** Where a JSON string ends: the next quote that no backslash escapes. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/**
 * Most strings of JSON are short, and escaped quotes come in rows: for so many octets a loop beats the native search. Fewer cost
 * code and prose with escaped quotes up to twice as much; a search of the chunk's text, which is as fast, puts all of the prompt on
 * the heap once (test/bench/http.bench.ts).
 */
const LOOP_OCTETS = 64;

/**
 * Index of the quote that ends a string; −1 when it is not in this chunk.
 *
 * @param from first octet of the string's content in this chunk; the octet before it escapes nothing
 */
export const closingQuote = (chunk: Buffer, from: number): number => {
  let start = from;
  let at = nextQuote(chunk, start);
  while (at !== -1 && backslashesBefore(chunk, start, at) % 2 === 1) {
    start = at + 1;
    at = nextQuote(chunk, start);
  }
  return at;
};

/** Whether the first octet of the next chunk is escaped. @param from as in `closingQuote` */
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
