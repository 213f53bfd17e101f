/**
 * Tells the outline of JSON text while it passes in chunks: what opens and closes, and the scalars that the listener asks for.
 * It keeps nothing else, and takes any octets: what is no JSON gives an outline of no use, never an error.
 */
import { createQuoteFinder, endsEscaping } from "./json-string.ts";

export type OutlineListener = {
  readonly opened: (isObject: boolean) => void;
  readonly closed: () => void;
  readonly comma: () => void;
  readonly colon: () => void;
  /** Asked where a string, a number or another literal begins: whether it is wanted. */
  readonly wantsNext: () => boolean;
  /** A wanted scalar: a string's content as it is written, without its quotes, or a literal. */
  readonly scalar: (chunk: Buffer, from: number, end: number, isString: boolean) => void;
  /** A wanted scalar of more octets than any name has. */
  readonly tooLong: () => void;
  /** A part of a string that was not wanted, and then its end. */
  readonly passing: (chunk: Buffer, from: number, end: number) => void;
  readonly passed: () => void;
};

/** A name of 256 octets, each written as \uXXXX, is 1 536 octets; what is longer is no name. */
const MOST_KEPT_OCTETS = 2_048;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const SHAPE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

type Place = "between" | "string" | "literal";

export const createJsonOutline = (listener: OutlineListener): ((chunk: Buffer) => void) => {
  const quotes = createQuoteFinder();
  let place: Place = "between";
  let isWanted = false;
  /** The first octet of the next chunk belongs to an escape. */
  let isEscaped = false;
  /** What earlier chunks held of a wanted scalar. */
  let kept: Buffer[] = [];
  let keptOctets = 0;

  const begin = (what: "string" | "literal"): void => {
    place = what;
    isWanted = listener.wantsNext();
  };

  const keep = (chunk: Buffer, from: number, end: number): void => {
    keptOctets += end - from;
    // A copy, or a name of ten octets would hold a chunk of 64 KB.
    if (keptOctets <= MOST_KEPT_OCTETS) kept.push(Buffer.from(chunk.subarray(from, end)));
  };

  const tell = (chunk: Buffer, from: number, end: number): void => {
    const isString = place === "string";
    if (keptOctets + end - from > MOST_KEPT_OCTETS) listener.tooLong();
    else if (keptOctets === 0) listener.scalar(chunk, from, end, isString);
    else {
      const whole = Buffer.concat([...kept, chunk.subarray(from, end)]);
      listener.scalar(whole, 0, whole.length, isString);
    }
    kept = [];
    keptOctets = 0;
  };

  /** Tells what this octet is; false: a literal begins. */
  const tellMark = (octet: number): boolean => {
    if (octet <= SPACE) return true;
    if (octet === COMMA) listener.comma();
    else if (octet === COLON) listener.colon();
    else if ((octet | SHAPE_BIT) === OPEN) listener.opened(octet === OPEN);
    else if ((octet | SHAPE_BIT) === CLOSE) listener.closed();
    else return false;
    return true;
  };

  /** @returns where a string's content or a literal begins, or the chunk's end */
  const between = (chunk: Buffer, from: number): number => {
    for (let at = from; at < chunk.length; at++) {
      const octet = chunk[at] ?? 0;
      if (octet === QUOTE) {
        begin("string");
        return at + 1;
      }
      if (!tellMark(octet)) {
        begin("literal");
        return at;
      }
    }
    return chunk.length;
  };

  const inString = (chunk: Buffer, from: number): number => {
    const start = isEscaped ? from + 1 : from;
    const quote = quotes.closing(chunk, start);
    isEscaped = quote === -1 && endsEscaping(chunk, start);
    const end = quote === -1 ? chunk.length : quote;
    if (!isWanted) listener.passing(chunk, from, end);
    else if (quote === -1) keep(chunk, from, end);
    if (quote === -1) return end;
    if (isWanted) tell(chunk, from, end);
    else listener.passed();
    place = "between";
    return quote + 1;
  };

  const inLiteral = (chunk: Buffer, from: number): number => {
    let end = from;
    while (end < chunk.length && isOfLiteral(chunk[end] ?? 0)) end += 1;
    const isWhole = end < chunk.length;
    if (isWanted && !isWhole) keep(chunk, from, end);
    if (!isWhole) return end;
    if (isWanted) tell(chunk, from, end);
    place = "between";
    return end;
  };

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (place === "between") at = between(chunk, at);
      else at = place === "string" ? inString(chunk, at) : inLiteral(chunk, at);
    }
    quotes.forget();
  };
};

const isOfLiteral = (octet: number): boolean => {
  if (octet <= SPACE || octet === COMMA || octet === QUOTE || octet === COLON) return false;
  return (octet | SHAPE_BIT) !== CLOSE && (octet | SHAPE_BIT) !== OPEN;
};
