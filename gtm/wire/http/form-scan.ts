/** Finds a few fields of a form (multipart/form-data, RFC 7578) while it passes by; files are passed over. */
import type { IncomingHttpHeaders } from "node:http";
import type { BodyScan } from "./body-scan.ts";
import type { Scalar } from "./kept-scalars.ts";
import type { Wanted } from "./member-paths.ts";

const FORM_TYPE = /^multipart\/form-data\s*;/i;
/** RFC 2046 §5.1.1: at most 70 characters. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))/i;

/** null: it is no form. */
export const boundaryIn = (headers: IncomingHttpHeaders): string | null => {
  const type = headers["content-type"] ?? "";
  if (!FORM_TYPE.test(type)) return null;
  const [, quoted, plain] = BOUNDARY.exec(type) ?? [];
  return quoted ?? plain ?? null;
};

/** As of any other body. */
const MOST_VALUE_OCTETS = 2_048;
const MOST_HEAD_OCTETS = 8_192;
const HEAD_END = Buffer.from("\r\n\r\n");
const NAME = /^content-disposition:\s*form-data\s*;(?:.*?;)?\s*name="([^"]*)"/im;
const IS_FILE = /^content-disposition:.*;\s*filename\*?=/im;

type Place = "before" | "behind-boundary" | "head" | "value" | "over";

export const createFormScan = (boundary: string, { paths }: Pick<Wanted, "paths">): BodyScan => {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const values = new Map<string, Scalar>();
  const tooLong = new Set<string>();
  let place: Place = "before";
  // The first delimiter may stand at the very beginning.
  let rest: Buffer = Buffer.from("\r\n");
  /** The field that is read; null: a file, or one that nobody wants. */
  let field: { readonly name: string; readonly parts: Buffer[]; octets: number } | null = null;

  const keep = (data: Buffer): void => {
    if (field === null) return;
    field.octets += data.length;
    // A copy, or a field of ten octets would hold a chunk of 64 KB.
    if (field.octets <= MOST_VALUE_OCTETS) field.parts.push(Buffer.from(data));
  };
  const fieldEnded = (): void => {
    if (field === null) return;
    values.delete(field.name);
    tooLong.delete(field.name);
    if (field.octets > MOST_VALUE_OCTETS) tooLong.add(field.name);
    else values.set(field.name, Buffer.concat(field.parts).toString());
    field = null;
  };
  /** @returns what is left to read; null: more has to come */
  const toDelimiter = (data: Buffer): Buffer | null => {
    const at = data.indexOf(delimiter);
    const end = at === -1 ? Math.max(0, data.length - delimiter.length + 1) : at;
    if (place === "value") keep(data.subarray(0, end));
    if (at === -1) return wait(data.subarray(end));
    fieldEnded();
    place = "behind-boundary";
    return data.subarray(at + delimiter.length);
  };
  /** "--": the form is over; else a line end, before it blanks at most (RFC 2046 §5.1.1). */
  const behindBoundary = (data: Buffer): Buffer | null => {
    if (data.length < 2) return wait(data);
    if (data.toString("latin1", 0, 2) === "--") return over();
    const end = data.indexOf("\r\n");
    if (end === -1) return data.length > MOST_HEAD_OCTETS ? over() : wait(data);
    place = "head";
    // The line end stays: a part without headers has nothing else before its value.
    return data.subarray(end);
  };
  const head = (data: Buffer): Buffer | null => {
    const end = data.indexOf(HEAD_END);
    if (end === -1) return data.length > MOST_HEAD_OCTETS ? over() : wait(data);
    const text = data.toString("utf8", 0, end).trimStart();
    const name = NAME.exec(text)?.[1];
    field = name === undefined || IS_FILE.test(text) || !paths.includes(name) ? null : { name, parts: [], octets: 0 };
    place = "value";
    return data.subarray(end + HEAD_END.length);
  };
  const over = (): null => {
    place = "over";
    return wait(Buffer.alloc(0));
  };
  const wait = (data: Buffer): null => {
    rest = Buffer.from(data);
    return null;
  };
  const STEPS = { before: toDelimiter, value: toDelimiter, "behind-boundary": behindBoundary, head } as const;

  return {
    write: (chunk) => {
      let data: Buffer | null = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      rest = Buffer.alloc(0);
      while (data !== null && place !== "over") data = STEPS[place](data);
    },
    isOpened: () => true,
    // No JSON: what is sent is no prompt to be counted.
    scanned: () => ({ isObject: false, values, tooLong, blobBytes: 0, fingerprint: null }),
  };
};
