/** The scan of a body on what people write by hand to confuse it: members twice, escaped names, values without an end. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createBodyScan, type Scanned } from "#gtm/wire/http/body-scan.ts";
import { memberNames } from "#gtm/wire/http/member-paths.ts";
import { createSmallBodyScan, MOST_PARSED_OCTETS } from "#gtm/wire/http/small-body.ts";

const WANTED = ["model", "user", "metadata.session_id", "metadata.user_id"] as const;
const NAMES = memberNames(WANTED);
/** What is longer is no name; a value may be kept up to it, and need not be beyond. */
const MOST_KEPT_OCTETS = 2_048;
const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);
const BLANKS = ["", " ", "\n", "\t\r\n  "] as const;

type Member = { readonly name: string; readonly value: string };

/** A string's JSON text, some of its letters written as \uXXXX. */
const written = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat({ max: 4 })).map(([plain, every]) => {
    const spell = (letter: string, at: number): string =>
      every > 0 && at % every === 0
        ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(letter).slice(1, -1);
    return `"${plain.split("").map(spell).join("")}"`;
  });

const name = written(
  fc.oneof(fc.constantFrom("model", "user", "metadata", "session_id", "user_id"), fc.string({ maxLength: 12 })),
);
const long = fc
  .tuple(fc.constantFrom("x", "\\", '"', "é", "🦙", "}{"), fc.integer({ min: 200, max: 3_000 }))
  .map(([letter, times]) => letter.repeat(times));
const scalar = fc.oneof(
  written(fc.string({ unit: "grapheme", maxLength: 20 })),
  written(long),
  fc.constantFrom("null", "true", "false", "0", "-0", "1.5e300", "-1E-7", '""', '"\\ud800"', '"\\/"'),
);
const objectOf = (members: readonly Member[], blank: string): string =>
  `{${members.map((one) => `${blank}${one.name}${blank}:${blank}${one.value}${blank}`).join(",")}}`;
const blank = fc.constantFrom(...BLANKS);
const membersOf = (value: fc.Arbitrary<string>): fc.Arbitrary<Member[]> =>
  fc.array(fc.record({ name, value }), { maxLength: 8 });
const inner = fc.tuple(membersOf(scalar), blank).map(([members, space]) => objectOf(members, space));
const list = fc.array(fc.oneof(scalar, inner), { maxLength: 4 }).map((items) => `[${items.join(",")}]`);
const json = fc
  .tuple(membersOf(fc.oneof(scalar, inner, list)), blank)
  .map(([members, space]) => space + objectOf(members, space) + space);

/** Written in chunks that end at the given places, each in memory of its own that is overwritten once it has been seen. */
const scanOf = (octets: Buffer, places: readonly number[]): Scanned => {
  const scan = createBodyScan(NAMES);
  const ends = [...places.map((place) => place % (octets.length + 1)).toSorted((a, b) => a - b), octets.length];
  let from = 0;
  for (const end of ends) {
    const chunk = Buffer.from(octets.subarray(from, end));
    scan.write(chunk);
    chunk.fill(0x22);
    from = end;
  }
  return scan.scanned();
};

const memberAt = (whole: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((at, one) => {
    const isPlain = typeof at === "object" && at !== null && !Array.isArray(at);
    return isPlain && Object.hasOwn(at, one) ? (at as Record<string, unknown>)[one] : undefined;
  }, whole);

/** What became of a wanted member; throws where the scan and JSON.parse disagree. */
const agreementOn = (path: string, { values, tooLong }: Scanned, whole: unknown): "found" | "too long" | "absent" => {
  const expected = memberAt(whole, path);
  if (tooLong.has(path)) {
    assert.equal(typeof expected, "string");
    // Six octets a letter are the most that a text can be written with.
    assert.ok(String(expected).length * 6 > MOST_KEPT_OCTETS, "only what is too long is given up");
    assert.equal(values.has(path), false);
    return "too long";
  }
  const isScalar = expected === null || ["string", "number", "boolean"].includes(typeof expected);
  assert.deepEqual(values.get(path), isScalar ? expected : undefined, path);
  return isScalar ? "found" : "absent";
};

describe("a JSON object written by hand, with members twice and escapes anywhere, cut anywhere", () => {
  it("says of each wanted member what JSON.parse says, or that its value is too long", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(json, fc.array(fc.nat(), { maxLength: 20 }), (text, places) => {
        const scanned = scanOf(Buffer.from(text), places);
        const whole: unknown = JSON.parse(text);
        assert.equal(scanned.isObject, true);
        for (const path of WANTED) seen.add(agreementOn(path, scanned, whole));
      }),
      { numRuns: runs },
    );
    assert.deepEqual([...seen].toSorted(), ["absent", "found", "too long"]);
  });
});

const noise = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets)),
  fc.tuple(json, fc.nat(), fc.nat({ max: 255 })).map(([text, place, octet]) => {
    const damaged = Buffer.from(text);
    damaged[place % damaged.length] = octet;
    return damaged;
  }),
  fc.tuple(json, fc.nat()).map(([text, place]) => Buffer.from(text).subarray(place % text.length)),
);

describe("any octets", () => {
  it("never throw, and leave no more than a name of each wanted member", () => {
    fc.assert(
      fc.property(noise, fc.array(fc.nat(), { maxLength: 8 }), (octets, places) => {
        const { values, tooLong } = scanOf(octets, places);
        for (const path of [...values.keys(), ...tooLong])
          assert.ok(
            WANTED.some((one) => one === path),
            path,
          );
        for (const value of values.values()) assert.ok(Buffer.byteLength(String(value)) <= 3 * MOST_KEPT_OCTETS);
      }),
      { numRuns: runs },
    );
  });
});

describe("a small body that came whole", () => {
  const outline = () => createBodyScan(NAMES);
  const whole = fc.oneof(
    json.map((text) => Buffer.from(text)),
    fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text)),
    noise,
  );
  const small = whole.filter(({ length }) => length > 0 && length <= MOST_PARSED_OCTETS);

  it("says what its outline says where it is JSON, and where it is none, too", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(small, (octets) => {
        const scan = createSmallBodyScan(octets.length, NAMES, outline);
        scan.write(octets);
        const found = scan.scanned();
        assert.deepEqual(found, scanOf(octets, []));
        seen.add(found.isObject ? (found.values.size > 0 ? "members" : "object") : "no object");
      }),
      { numRuns: runs },
    );
    assert.deepEqual([...seen].toSorted(), ["members", "no object", "object"]);
  });

  it("says the same where it comes in pieces, or shorter than it was announced", () => {
    fc.assert(
      fc.property(small, fc.nat(), fc.nat({ max: 3 }), (octets, place, missing) => {
        const scan = createSmallBodyScan(octets.length + missing, NAMES, outline);
        const at = place % octets.length;
        scan.write(octets.subarray(0, at));
        scan.write(octets.subarray(at));
        assert.deepEqual(scan.scanned(), scanOf(octets, []));
      }),
      { numRuns: runs },
    );
  });
});

describe("a wanted member that never ends", () => {
  const MEBIBYTE = 1_048_576;
  const cases = [
    { what: "a value", start: '{"model":"', more: "x" },
    { what: "a name", start: '{"', more: "x" },
    { what: "a number", start: '{"model":1', more: "1" },
    { what: "escapes", start: '{"model":"', more: "\\u0041" },
    { what: "members of one name", start: '{"model":"', more: 'y","model":"' },
    { what: "members of other names", start: '{"a":1', more: ',"b":"c"' },
    { what: "objects in objects", start: '{"metadata":', more: '{"metadata":' },
  ] as const;
  for (const { what, start, more } of cases) {
    it(`holds no more memory after 4 MiB than after the first: ${what}`, () => {
      const scan = createBodyScan(NAMES);
      const chunk = Buffer.from(more.repeat(Math.ceil(65_536 / more.length)));
      const held = (): number => process.memoryUsage().arrayBuffers;
      scan.write(Buffer.from(start));
      for (let at = 0; at < 16; at++) scan.write(chunk);
      const before = held();
      for (let at = 0; at < 4 * 16; at++) scan.write(chunk);
      assert.ok(held() - before < MEBIBYTE, `grew by ${held() - before} octets`);
      const kept = [...scan.scanned().values.values()].map((value) => String(value).length);
      assert.ok(kept.every((length) => length <= MOST_KEPT_OCTETS));
    });
  }
});
