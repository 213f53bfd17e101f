/** Laws of reading engines, for every captured payload: what changes nothing changes no value; what is no number is a named fault, never a zero. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EngineReading } from "#edge-agent/engines/engine.ts";
import { engineOf } from "#edge-agent/engines/known.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { type PayloadCase, payloadCases } from "#test/support/engine-payloads.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 4);

const read = ({ models, further }: PayloadCase, text: string | null, isOpenMetrics = false): EngineReading => {
  const payloads = { page: text === null ? null : parseExposition(text, { isOpenMetrics }), models, further };
  const engine = engineOf("auto", payloads);
  assert.ok(engine !== null);
  return engine.read(payloads);
};

/** Models and replicas in an order of their own, since that of lines means nothing. */
const valuesOf = ({ models }: EngineReading) =>
  models
    .map(({ replicas, adapters, ...model }) => ({
      ...model,
      adapters: [...adapters].sort(),
      replicas: replicas.toSorted((a, b) => (a.engine < b.engine ? -1 : 1)),
    }))
    .toSorted((a, b) => (a.model < b.model ? -1 : 1));

/** Every number of a reading that stands for itself, by its path: not those that counters are made of. */
const numbersOf = (reading: EngineReading): ReadonlyMap<string, number> =>
  new Map(
    valuesOf(reading).flatMap(({ model, replicas, kvCapacityTokens, contextLimitTokens }) => [
      ...numbersIn(model, { kvCapacityTokens, contextLimitTokens }),
      ...replicas.flatMap(({ engine, counters: _, startedAt: __, ...gauges }) =>
        numbersIn(`${model}/${engine}`, gauges),
      ),
    ]),
  );
const numbersIn = (at: string, object: object): readonly (readonly [string, number])[] =>
  Object.entries(object).flatMap(([field, value]) => (typeof value === "number" ? [[`${at} ${field}`, value]] : []));

const faultsOf = ({ faults }: EngineReading): ReadonlySet<string> =>
  new Set(faults.map(({ field, code }) => `${field} ${code}`));

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "# EOF");
const isSample = (line: string): boolean => line !== "" && !line.startsWith("#");
const joined = (lines: readonly string[], end = "\n"): string => lines.map((line) => line + end).join("");

const inAnyOrder = (lines: readonly string[]) => fc.shuffledSubarray([...lines], { minLength: lines.length });

type Harmless = {
  readonly how: string;
  readonly change: (lines: readonly string[]) => string;
  readonly isOpenMetrics?: true;
};
const HARMLESS: readonly Harmless[] = [
  { how: "with CRLF", change: (lines) => joined(lines, "\r\n") },
  {
    how: "with a timestamp on each line",
    change: (lines) => joined(lines.map((line) => (isSample(line) ? `${line} 1796000000123` : line))),
  },
  {
    how: "with one more label on each series",
    change: (lines) =>
      joined(
        lines.map((line) =>
          isSample(line)
            ? line.replace(
                /^([^{ ]+)(?:\{(.*)\})? /,
                (_, name, labels) => `${name}{pod="p-0"${labels ? `,${labels}` : ""}} `,
              )
            : line,
        ),
      ),
  },
  {
    how: "with spaces after commas of labels",
    change: (lines) => joined(lines.map((line) => (isSample(line) ? line.replaceAll('",', '", ') : line))),
  },
  {
    how: "with metrics of somebody else",
    change: (lines) => `somebody_else{a="b"} NaN\n${joined(lines)}python_gc_total 3\n`,
  },
  {
    how: "as OpenMetrics, with exemplars, families without their suffix and an end mark",
    isOpenMetrics: true,
    change: (lines) =>
      joined([
        ...lines.map((line) =>
          isSample(line)
            ? line.includes("_bucket{")
              ? `${line} # {trace_id="a b # c"} 0.5 1796000000.1`
              : line
            : line.replace(/_total /, " "),
        ),
        "# EOF",
      ]),
  },
];

type Damage = { readonly at: number; readonly value: string };

/** `another`: the series stands twice, with different values. */
const damagedLines = (lines: readonly string[], damages: readonly Damage[]): readonly string[] => {
  const damaged = [...lines];
  for (const { at, value } of damages) {
    const line = lines[at] ?? "";
    const isTwice = value === "another";
    const changed = line.replace(/ (\S+)$/, (_, old) => ` ${isTwice ? Number(old) / 2 || 1 : value}`);
    if (isTwice) damaged.push(changed);
    else damaged[at] = changed;
  }
  return damaged;
};

describe("every captured payload", () => {
  for (const payload of payloadCases()) {
    const { name, page } = payload;
    const whole = read(payload, page);
    const before = numbersOf(whole);
    it(`${name}: says something, and every null is told`, () => {
      // A cache tier has no models of its own.
      assert.ok(whole.models.length > 0 || whole.engine === "lmcache");
      assert.ok(before.size > 0 || whole.faults.length > 0 || ["ollama", "lmcache"].includes(whole.engine));
    });
    if (page === null) continue;
    const lines = linesOf(page);
    const samples = lines.flatMap((line, at) => (isSample(line) ? [at] : []));

    for (const { how, change, isOpenMetrics } of HARMLESS) {
      it(`${name}: ${how} has the same values`, () => {
        const changed = read(payload, change(lines), isOpenMetrics);
        assert.deepEqual(valuesOf(changed), valuesOf(whole));
        assert.deepEqual([...faultsOf(changed)].sort(), [...faultsOf(whole)].sort());
      });
    }
    it(`${name}: has the same values in any order of lines`, () => {
      fc.assert(
        fc.property(inAnyOrder(lines), (order) => {
          const changed = read(payload, joined(order));
          assert.deepEqual(valuesOf(changed), valuesOf(whole));
          assert.deepEqual([...faultsOf(changed)].sort(), [...faultsOf(whole)].sort());
        }),
        { numRuns: runs },
      );
    });
    it(`${name}: has the same values where series stand twice alike, and says so`, () => {
      fc.assert(
        fc.property(fc.subarray(samples, { minLength: 1, maxLength: Math.min(5, samples.length) }), (twice) => {
          const changed = read(payload, joined([...lines, ...twice.flatMap((at) => lines[at] ?? [])]));
          assert.deepEqual(valuesOf(changed), valuesOf(whole));
          assert.ok([...faultsOf(changed)].some((fault) => fault.endsWith(" duplicate")));
        }),
        { numRuns: runs },
      );
    });

    const unsound = fc.record({
      at: fc.constantFrom(...samples),
      value: fc.constantFrom("NaN", "+Inf", "-Inf", "1e400", "-1", "9223372036854775794", "another"),
    });
    it(`${name}: with values that are none has the same values, or a fault that says so, and no zero`, () => {
      fc.assert(
        fc.property(fc.array(unsound, { minLength: 1, maxLength: 4 }), (damages) => {
          const changed = read(payload, joined(damagedLines(lines, damages)));
          const after = numbersOf(changed);
          for (const [path, value] of after) {
            assert.ok(value !== 0 || before.get(path) === 0, `${path} is a zero that nobody said`);
            assert.ok(Number.isFinite(value), path);
          }
          const isSame = JSON.stringify([...after]) === JSON.stringify([...before]);
          const hasNewFault = [...faultsOf(changed)].some((fault) => !faultsOf(whole).has(fault));
          assert.ok(isSame || hasNewFault, "a value changed and nothing says why");
        }),
        { numRuns: runs * 4 },
      );
    });
    it(`${name}: never throws, however it is damaged`, () => {
      const damage = fc.record({ at: fc.nat(page.length), remove: fc.nat(300), insert: fc.string({ maxLength: 6 }) });
      fc.assert(
        fc.property(damage, ({ at, remove, insert }) => {
          const text = page.slice(0, at) + insert + page.slice(at + remove);
          const payloads = { page: parseExposition(text), models: payload.models, further: payload.further };
          engineOf("auto", payloads)?.read(payloads);
        }),
        { numRuns: runs * 2 },
      );
    });
  }
});

describe("answers in JSON", () => {
  it("never make a reading throw, whatever they are", () => {
    const cases = payloadCases();
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.jsonValue(), fc.jsonValue(), (payload, models, json) => {
        const page =
          payload.page === null ? null : parseExposition(payload.page.slice(0, payload.page.indexOf("\n", 2_000) + 1));
        const further = new Map(
          [...payload.further.keys(), "/props", "/slots", "/api/ps"].map(
            (path) => [path, { kind: "json", json }] as const,
          ),
        );
        engineOf("auto", { page, models: payload.models, further: payload.further })?.read({ page, models, further });
      }),
      { numRuns: runs * 25 },
    );
  });
});
