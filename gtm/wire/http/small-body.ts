/**
 * A small JSON body that came whole is parsed, which takes about half of what looking at its outline does
 * (test/bench/http.bench.ts); for what comes in pieces, or is no JSON, the outline is there.
 */
import type { BodyScan, Scanned } from "./body-scan.ts";
import type { Scalar } from "./kept-scalars.ts";
import type { MemberNames, Wanted } from "./member-paths.ts";

/** No name in it is too long to be told, and no string long enough for an image: what the outline would say of either is known. */
export const MOST_PARSED_OCTETS = 2_048;

/**
 * @param octets of the whole body, at most `MOST_PARSED_OCTETS`
 * @param wanted paths of scalars, as the outline's
 */
export const createSmallBodyScan = (octets: number, wanted: Wanted, outline: () => BodyScan): BodyScan => {
  let parsed: Scanned | null = null;
  let scan: BodyScan | null = null;
  const scanOf = (): BodyScan => {
    scan ??= outline();
    return scan;
  };
  return {
    write: (chunk) => {
      if (scan === null && chunk.length === octets) parsed = parsedFrom(chunk, wanted);
      if (parsed === null) scanOf().write(chunk);
    },
    scanned: () => parsed ?? scanOf().scanned(),
    isOpened: () => parsed !== null || scanOf().isOpened(),
  };
};

const NONE: ReadonlySet<string> = new Set();

/** null: it is no JSON. */
const parsedFrom = (chunk: Buffer, { root }: Wanted): Scanned | null => {
  let body: unknown;
  try {
    body = JSON.parse(chunk.toString());
  } catch {
    return null;
  }
  const values = new Map<string, Scalar>();
  const object = isRecord(body) ? body : null;
  if (object !== null) take(object, root.children, values);
  return { isObject: object !== null, values, tooLong: NONE, blobBytes: 0, fingerprint: null };
};

type Json = Readonly<Record<string, unknown>>;

/** By what the body has, and not by what is wanted: most bodies have less. */
const take = (from: Json, wanted: MemberNames | null, values: Map<string, Scalar>): void => {
  if (wanted === null) return;
  for (const name in from) {
    const member = wanted.byName.get(name);
    if (member === undefined) continue;
    const value = from[name];
    if (member.slot !== null && isScalar(value)) values.set(member.path, value);
    else if (member.children !== null && isRecord(value)) take(value, member.children, values);
  }
};

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
