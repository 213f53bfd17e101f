/** Laws of the world file: what was saved comes back, and nothing that can stand in a file does harm. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { NO_ORDERS, withOrder } from "#gtm/datalayer/orders.ts";
import { type WorldFile, worldFileOf, worldFileText } from "#gtm/datalayer/world-file-format.ts";
import { regionId } from "#test/support/builders.ts";
import { aReport, EPOCH_MS } from "#test/support/report-builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 500) };
const NAMES = ["frankfurt", "paris", "virginia"];
const name = fc.constantFrom(...NAMES);

const file: fc.Arbitrary<WorldFile> = fc
  .record({
    savedAtMs: fc.integer({ min: 1, max: 2 * EPOCH_MS }),
    instance: fc.string({ maxLength: 64 }),
    reports: fc.array(
      fc.record({
        of: name,
        ageMs: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
        seq: fc.integer({ min: 1 }),
      }),
    ),
    orders: fc.array(fc.record({ of: name, comment: fc.string({ minLength: 1, maxLength: 500 }) })),
    cells: fc.array(fc.record({ cell: fc.string({ maxLength: 256 }), of: name })),
  })
  .map(({ reports, orders, cells, ...rest }) => ({
    v: 1,
    ...rest,
    reports: reports.map(({ of, ageMs, seq }) => ({ ageMs, report: aReport(of, { seq }) })),
    orders: orders.reduce(
      (from, { of, comment }, at) =>
        withOrder(from, {
          ...{ region: regionId(of), admin: "down", comment, actor: "ops" },
          ...{ orderedAtMs: EPOCH_MS + at, expiresAtMs: null },
        }),
      NO_ORDERS,
    ),
    cells: cells.map(({ cell, of }) => ({ cell, region: regionId(of) })),
  }));

describe("a world file", () => {
  it("says what was saved, to the letter", () => {
    fc.assert(
      fc.property(file, (saved) => {
        const reading = worldFileOf(worldFileText(saved));
        assert.equal(reading.kind, "sound");
        if (reading.kind === "sound") assert.deepEqual(reading.file, JSON.parse(JSON.stringify(saved)));
      }),
      runs,
    );
  });
  it("that was cut short anywhere is refused", () => {
    fc.assert(
      fc.property(file, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (saved, part) => {
        const text = worldFileText(saved).trimEnd();
        assert.equal(worldFileOf(text.slice(0, Math.floor(text.length * part))).kind, "refused");
      }),
      runs,
    );
  });
  it("of a later version is refused by name, whatever else it holds", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 2 }), (more, v) => {
        const reading = worldFileOf(JSON.stringify({ ...(typeof more === "object" ? more : {}), v }));
        assert.equal(reading.kind === "refused" && reading.reason, "version");
      }),
      runs,
    );
  });
  it("is read or refused whatever it holds: garbage, or one of ours with a part exchanged", () => {
    const exchanged = fc
      .tuple(file, fc.constantFrom("v", "savedAtMs", "instance", "reports", "orders", "cells"), fc.jsonValue())
      .map(([saved, key, value]) => JSON.stringify({ ...saved, [key]: value }));
    const garbage = fc.oneof(
      fc.string(),
      fc.json(),
      fc.uint8Array().map((octets) => Buffer.from(octets).toString()),
    );
    fc.assert(
      fc.property(fc.oneof(garbage, exchanged), (text) => {
        const reading = worldFileOf(text);
        assert.ok(reading.kind === "sound" || reading.detail.length <= 300);
      }),
      runs,
    );
  });
});
