/** The scan of a body agrees with JSON.parse about the members it looks for, however the body is cut; and bears anything. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createBodyScan } from "#gtm/wire/http/body-scan.ts";
import type { Scalar } from "#gtm/wire/http/kept-scalars.ts";
import { memberNames } from "#gtm/wire/http/member-paths.ts";

const PATHS = ["model", "user", "max_tokens", "metadata", "metadata.user_id", "metadata.session_id", "a"];
const NAMES = memberNames(PATHS);

/** Cuts at any octets, within letters and escapes, too. */
const cut = (text: Buffer, at: readonly number[]): readonly Buffer[] => {
  const places = [0, ...at.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return places.slice(1).map((end, i) => text.subarray(places[i], end));
};

const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== "object";

/** What JSON.parse says of the wanted members. */
const expectedOf = (value: unknown): ReadonlyMap<string, Scalar> => {
  const found = new Map<string, Scalar>();
  if (isScalar(value) || Array.isArray(value)) return found;
  const note = (path: string, member: unknown): void => {
    if (PATHS.includes(path) && isScalar(member)) found.set(path, member);
  };
  for (const [name, member] of Object.entries(value as object)) {
    if (!name.includes(".")) note(name, member);
    if (isScalar(member) || Array.isArray(member)) continue;
    for (const [inner, leaf] of Object.entries(member as object)) {
      if (!inner.includes(".")) note(`${name}.${inner}`, leaf);
    }
  }
  return found;
};

const name = fc.oneof(
  fc.constantFrom(
    "model",
    "user",
    "max_tokens",
    "metadata",
    "user_id",
    "session_id",
    "a",
    "messages",
    "metadata.user_id",
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const leaf = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom('"', "\\", '\\"', "{", "}", '"}', "\u0000", "é", "🦙", "\\\\\\", "]", ":", ","),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec<{ value: unknown; member: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 6, noNullPrototype: true }),
  ),
  member: tie("value"),
}));
const body = fc.oneof(fc.dictionary(name, value, { maxKeys: 8, noNullPrototype: true }), value);
/** Compact, printed over lines, or with everything that can be escaped escaped. */
const text = fc.tuple(body, fc.constantFrom(0, 1, 3), fc.boolean()).map(([one, indent, isEscaped]) => {
  const json = JSON.stringify(one, null, indent);
  return isEscaped ? json.replaceAll(/[^\x20-\x7e\n]/g, escaped) : json;
});
const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

describe("any JSON text, cut anywhere", () => {
  it("is understood as JSON.parse understands it", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (json, places) => {
        const scan = createBodyScan(NAMES);
        for (const chunk of cut(Buffer.from(json), places)) scan.write(chunk);
        const { values, isObject, tooLong } = scan.scanned();
        const whole: unknown = JSON.parse(json);
        assert.deepEqual(new Map([...values].toSorted()), new Map([...expectedOf(whole)].toSorted()));
        assert.equal(isObject, !isScalar(whole) && !Array.isArray(whole));
        assert.equal(tooLong.size, 0);
      }),
      { numRuns: 2_000 },
    );
  });
  it("says the same of one chunk and of single octets", () => {
    fc.assert(
      fc.property(text, (json) => {
        const octets = Buffer.from(json);
        const [whole, single] = [createBodyScan(NAMES), createBodyScan(NAMES)];
        whole.write(octets);
        for (let at = 0; at < octets.length; at++) single.write(octets.subarray(at, at + 1));
        assert.deepEqual(single.scanned(), whole.scanned());
      }),
    );
  });
});

describe("any octets at all", () => {
  const token = fc.constantFrom(
    '{"model":"',
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\u0000",
    '"user":',
    "1e",
    "tru",
  );
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
    fc.array(token, { maxLength: 40 }).map((tokens) => Buffer.from(tokens.join(""))),
  );
  it("never make the scan throw, nor keep more than a name", () => {
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 6 }), (chunks) => {
        const scan = createBodyScan(NAMES);
        for (const chunk of chunks) scan.write(chunk);
        for (const found of scan.scanned().values.values()) {
          assert.ok(typeof found !== "string" || found.length <= 2_048);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
