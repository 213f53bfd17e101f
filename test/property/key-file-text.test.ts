/** Laws of key files: what is written is read, and nothing that is read does more than be refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { OperationalError } from "#shared/errors.ts";
import { RegionId } from "#shared/ids.ts";
import {
  identityKeyIn,
  identityKeyText,
  reportRingsIn,
  reportRingsText,
  ringIn,
  ringText,
} from "#shared/key-file-text.ts";
import {
  currentFirst,
  faultOfRing,
  type KeyRing,
  type Turned,
  withNext,
  withNextActive,
  withoutOld,
} from "#shared/key-ring.ts";

const numRuns = Number(process.env["PROPERTY_RUNS"] ?? 300);

const key = fc.uint8Array({ minLength: 16, maxLength: 64 }).map((octets): Uint8Array => Buffer.from(octets));
const madeAtMs = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1_000);
const ring: fc.Arbitrary<KeyRing> = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 12 }),
    fc.boolean(),
    fc.infiniteStream(fc.record({ madeAtMs, key })),
  )
  .map(([ids, hasNext, made]) =>
    ids.map((id, at) => {
      const { value } = made.next();
      return { ...value, id, state: at === 0 ? "current" : at === 1 && hasNext ? "next" : "old" } as const;
    }),
  );
const region = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/).map((text) => RegionId.parse(text));

/** Words of key files, whole and broken, in lines. */
const nearly = fc
  .array(
    fc.array(
      fc.oneof(
        fc.constantFrom(
          "7",
          "256",
          "next",
          "current",
          "old",
          "eu",
          "#",
          "2026-11-30T04:02:11Z",
          "A".repeat(43),
          "\u0000",
        ),
        fc.string({ unit: "binary" }),
      ),
      { maxLength: 6 },
    ),
    { maxLength: 8 },
  )
  .map((lines) => lines.map((words) => words.join(" ")).join("\n"));

describe("key files", () => {
  it("are read as they were written", () => {
    fc.assert(
      fc.property(ring, key, fc.uniqueArray(region, { maxLength: 4 }), (one, identity, regions) => {
        assert.deepEqual(ringIn(ringText(one, "title"), "f"), one);
        assert.deepEqual(identityKeyIn(identityKeyText(identity), "f"), identity);
        const rings = new Map(regions.map((name) => [name, one.slice(0, 1)] as const));
        assert.deepEqual(reportRingsIn(reportRingsText(rings), "f"), rings);
      }),
      { numRuns },
    );
  });
  it("of any content are read, or refused with the lines that are wrong", () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string({ unit: "binary", maxLength: 400 })), (text) => {
        for (const parse of [identityKeyIn, ringIn, reportRingsIn]) {
          try {
            parse(text, "f");
          } catch (fault) {
            assert.ok(fault instanceof OperationalError, String(fault));
            for (const line of fault.message.split("\n")) assert.match(line, /^f:\d+: |^f: \d+ faults more$/);
          }
        }
      }),
      { numRuns: numRuns * 5 },
    );
  });
});

describe("a ring, whatever is done to it", () => {
  it("stays sound, and accepts what it signed until that is dropped", () => {
    const step: fc.Arbitrary<(ring: KeyRing) => Turned> = fc.oneof(
      fc.record({ madeAtMs, key }).map((made) => (one: KeyRing) => withNext(one, made, 256)),
      fc.constantFrom(withNextActive, withoutOld),
    );
    fc.assert(
      fc.property(ring, fc.array(step, { maxLength: 30 }), (start, steps) => {
        let now = start;
        for (const take of steps) {
          const outcome = take(now);
          if (outcome.kind === "refused") continue;
          assert.equal(faultOfRing(outcome.ring), null);
          assert.ok(
            outcome.ring.some(({ id, key: one }) => id === currentFirst(now)[0].id && one === currentFirst(now)[0].key),
          );
          now = outcome.ring;
        }
      }),
      { numRuns },
    );
  });
});
