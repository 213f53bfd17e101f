/** A page read by the layout of the one before it is the page that reading it from its beginning makes. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isReadByBucket } from "#edge-agent/engines/read-buckets.ts";
import { type PageWish, parseOctets } from "#edge-agent/exposition.ts";
import { NO_PAGE_MEMORY, parseAlike } from "#edge-agent/exposition-layout.ts";

const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 15);
const FOLDERS = ["engines", "engines-more"].map((name) => join(import.meta.dirname, "../fixtures", name));
const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".prom"))
    .map((file) => join(folder, file)),
);
const IS_READ = isReadByBucket({});

const value = fc.oneof(
  fc.nat().map(String),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "0.1",
    "12.",
    ".5",
    "NaN",
    "+Inf",
    "1e400",
    "-3",
    "1 1796000000000",
    '5 # {a="b"} 1',
    "x",
    "",
    "9".repeat(18),
  ),
);
const ofLine = fc.oneof(
  { weight: 8, arbitrary: value.map((text) => (line: string) => line.replace(/[^ ]*$/, () => text)) },
  fc.constantFrom<((line: string) => string)[]>(
    (line) => `${line}\r`,
    (line) => ` ${line}`,
    (line) => line.replace(" ", "  "),
    (line) => line.slice(0, line.length / 2),
    (line) => line.replace('="', '="ü\\"'),
    (line) => `${line}\n${line}`,
    () => "",
    () => "# EOF",
    () => "another_name 1",
  ),
);
const changes = fc.array(fc.record({ at: fc.nat(), change: ofLine }), { maxLength: 6 });
type Changes = typeof changes extends fc.Arbitrary<infer C> ? C : never;

const changed = (text: string, made: Changes): string => {
  const lines = text.split("\n");
  for (const { at, change } of made) lines[at % lines.length] = change(lines[at % lines.length] ?? "");
  return lines.join("\n");
};

describe("a page of an engine, read by the layout of another", () => {
  for (const file of FILES) {
    const text = readFileSync(file, "utf8");
    it(`is read as from its beginning: ${file.split("/").slice(-2).join("/")}`, () => {
      fc.assert(
        fc.property(changes, changes, fc.boolean(), (before, after, isOpenMetrics) => {
          const wish: PageWish = { isRead: IS_READ, isOpenMetrics };
          const { memory } = parseAlike(Buffer.from(changed(text, before)), wish, NO_PAGE_MEMORY);
          for (const page of [changed(text, before), changed(text, after)].map((one) => Buffer.from(one))) {
            assert.deepEqual(parseAlike(page, wish, memory).page, parseOctets(page, wish, null));
          }
        }),
        { numRuns: RUNS },
      );
    });
  }
});
