/** Laws of reading metrics pages: whatever comes, nothing is thrown, and the order of lines means nothing. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseExposition } from "#edge-agent/exposition.ts";
import { labelOf } from "#edge-agent/exposition-line.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const PAGE = enginePayload("vllm-v1-current.t1.prom");

/** Texts that look like pages now and then. */
const pageLike = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "a",
        "{",
        "}",
        '"',
        "\\",
        "=",
        ",",
        " ",
        "\n",
        "#",
        "# EOF",
        "NaN",
        "+Inf",
        "1",
        "le",
        "\r",
        "\t",
      ),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

const labelName = fc.stringMatching(/^[a-z_]{1,8}$/);
const sample = fc.record({
  name: fc.stringMatching(/^[a-z:_]{1,3}$/),
  labels: fc.uniqueArray(fc.tuple(labelName, fc.string({ unit: "grapheme", maxLength: 8 })), {
    selector: ([name]) => name,
    maxLength: 4,
  }),
  value: fc.oneof(
    fc.double().map((value) => value + 0),
    fc.constantFrom(0, 1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  ),
});
type Written = typeof sample extends fc.Arbitrary<infer W> ? W : never;

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
const spelled = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
const lineOf = ({ name, labels, value }: Written): string =>
  `${name}{${labels.map(([label, text]) => `${label}="${escaped(text)}"`).join(",")}} ${spelled(value)}\n`;

/** A page as sets, so that two can be compared whatever their order. */
const contents = (text: string): unknown => {
  const page = parseExposition(text);
  const samples = [...page.samples].map(([name, list]) => [
    name,
    list
      .map((one) =>
        JSON.stringify([one.labelNames.map((label) => [label, labelOf(one, label)]).sort(), spelled(one.value)]),
      )
      .sort(),
  ]);
  return { samples: new Map(samples as [string, string[]][]), contradicted: page.contradicted, faults: page.faults };
};

describe("reading a page", () => {
  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(pageLike, fc.boolean(), (text, isOpenMetrics) => {
        const page = parseExposition(text, { isOpenMetrics });
        for (const list of page.samples.values()) {
          for (const one of list) assert.equal(one.labelNames.length, one.labelValues.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });
  it("never throws, however a real page is damaged", () => {
    const damage = fc.record({ at: fc.nat(PAGE.length), remove: fc.nat(200), insert: fc.string({ maxLength: 5 }) });
    fc.assert(
      fc.property(damage, ({ at, remove, insert }) => {
        parseExposition(PAGE.slice(0, at) + insert + PAGE.slice(at + remove));
      }),
      { numRuns: 60 },
    );
  });
  it("gives back what was written: names, labels and values", () => {
    fc.assert(
      fc.property(sample, (written) => {
        const page = parseExposition(lineOf(written));
        const [one] = page.samples.get(written.name) ?? [];
        assert.ok(one);
        assert.deepEqual(page.faults, []);
        assert.ok(Object.is(one.value, written.value));
        for (const [label, text] of written.labels) assert.equal(labelOf(one, label), text);
        assert.equal(one.labelNames.length, written.labels.length);
      }),
      { numRuns: 1_000 },
    );
  });
  it("is the same for every order of lines and of labels", () => {
    const shuffled = fc.array(sample, { minLength: 1, maxLength: 12 }).chain((lines) =>
      fc.record({
        lines: fc.constant(lines),
        order: fc.shuffledSubarray([...lines.keys()], { minLength: lines.length }),
        isTurned: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ lines, order, isTurned }) => {
        const turned = order
          .flatMap((at) => lines[at] ?? [])
          .map((line) => (isTurned ? { ...line, labels: line.labels.toReversed() } : line));
        assert.deepEqual(contents(turned.map(lineOf).join("")), contents(lines.map(lineOf).join("")));
      }),
      { numRuns: 1_000 },
    );
  });
  it("of a page cut inside a line knows nothing", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: PAGE.length }), (cut) => {
        fc.pre(PAGE[cut - 1] !== "\n");
        const page = parseExposition(PAGE.slice(0, cut));
        assert.equal(page.samples.size, 0);
        assert.deepEqual(page.faults, [{ field: "page", code: "half-sent" }]);
      }),
      { numRuns: 60 },
    );
  });
});
