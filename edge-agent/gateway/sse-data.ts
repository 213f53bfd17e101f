/** The data of server-sent events that pass by in pieces, cut anywhere (WHATWG HTML §9.2.6): nothing of them is kept. */

export type SseData = {
  /** @param atMs when this piece came */
  readonly push: (octets: Uint8Array, atMs: number) => void;
  /** The stream is over. An event without its blank line is told as well: engines that die leave one behind. */
  readonly end: () => void;
};

export type SseListener = {
  /** A part of the current event's data; the space that may stand before it is left in. */
  readonly onData: (octets: Uint8Array, from: number, to: number) => void;
  /** The event is whole. @param beganAtMs when the first octet of its first data line came */
  readonly onEvent: (beganAtMs: number) => void;
};

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const FIELD = Buffer.from("data");
const BOM = Buffer.from("\uFEFF");
const NEW_LINE = Uint8Array.of(LF);

/** `name`: what is read of the line so far could be `data`. `data`: behind its colon. `other`: the line says something else. */
type Place = "name" | "data" | "other";

export const createSseData = ({ onData, onEvent }: SseListener): SseData => {
  let place: Place = "name";
  /** Octets of `data` that the line began with so far. */
  let matched = 0;
  let isAfterCr = false;
  /** Octets of a byte order mark that the stream began with; -1: its beginning is over. */
  let marked = 0;
  let lineBeganAtMs = 0;
  /** null: the current event has no data line yet. */
  let beganAtMs: number | null = null;

  const beginData = (): void => {
    // Lines of data are joined by a line feed.
    if (beganAtMs !== null) onData(NEW_LINE, 0, 1);
    beganAtMs ??= lineBeganAtMs;
    place = "data";
  };
  const endEvent = (): void => {
    if (beganAtMs !== null) onEvent(beganAtMs);
    beganAtMs = null;
  };
  const endLine = (): void => {
    if (place === "name" && matched === 0) endEvent();
    // A name without a colon has an empty value.
    else if (place === "name" && matched === FIELD.length) beginData();
    place = "name";
    matched = 0;
  };
  const passName = (octet: number, atMs: number): void => {
    if (matched === 0) lineBeganAtMs = atMs;
    if (matched === FIELD.length && octet === COLON) beginData();
    else if (octet === FIELD[matched]) matched += 1;
    else place = "other";
  };
  /** @returns whether the octet belongs to a byte order mark at the stream's very beginning */
  const isMark = (octet: number): boolean => {
    if (marked < 0) return false;
    const isNext = octet === BOM[marked];
    marked = isNext && marked < BOM.length - 1 ? marked + 1 : -1;
    return isNext;
  };
  const isLineEnd = (octet: number): boolean => octet === CR || octet === LF;
  const passOctet = (octet: number, atMs: number): void => {
    const isSecondHalf = isAfterCr && octet === LF;
    isAfterCr = octet === CR;
    if (isSecondHalf || isMark(octet)) return;
    if (isLineEnd(octet)) endLine();
    else if (place === "name") passName(octet, atMs);
  };
  /** @returns where this line goes no further in this piece */
  const passValue = (octets: Uint8Array, from: number): number => {
    let to = from;
    while (to < octets.length && !isLineEnd(octets[to] ?? 0)) to += 1;
    if (place === "data" && to > from) onData(octets, from, to);
    return to;
  };
  return {
    push: (octets, atMs) => {
      for (let at = 0; at < octets.length; at++) {
        if (place !== "name") at = passValue(octets, at);
        if (at < octets.length) passOctet(octets[at] ?? 0, atMs);
      }
    },
    end: () => {
      endLine();
      endEvent();
    },
  };
};
