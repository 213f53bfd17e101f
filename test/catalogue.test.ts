/** What operators meet by name is catalogued: every error code in its table, every metric and log event by the rules. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ERROR_TABLE } from "#shared/errors.ts";
import { evasionsIn, faultsOfCodes, faultsOfEvents, faultsOfMetrics, metricsIn } from "./architecture/catalogue.ts";
import { programFiles, sourceFiles } from "./architecture/source-files.ts";

const files = programFiles();
const planted = (text: string) => [{ path: "gtm/x.ts", text }];

describe("the table of error codes", () => {
  const table = Object.keys(ERROR_TABLE);
  const reporting = files.filter(({ path }) => path !== "shared/errors.ts");

  it("has every code that is reported, and every code of it is", () => {
    assert.deepEqual(faultsOfCodes(reporting, table), []);
  });
  it("says of each code what to do, in a sentence of its own", () => {
    const sentences = Object.values(ERROR_TABLE);
    for (const sentence of sentences) assert.match(sentence, /^[A-Z].{20,}\.$/);
    assert.equal(new Set(sentences).size, sentences.length);
  });
  it("lacks a code that somebody throws, and has one that nobody does", () => {
    assert.deepEqual(faultsOfCodes(planted('throw new OperationalError("GTM_NEW_FAULT", "x");'), ["GTM_OLD_FAULT"]), [
      "GTM_OLD_FAULT is in the table and nothing reports it",
      "GTM_NEW_FAULT is reported and not in the table",
    ]);
  });
  it("is not satisfied by a comment", () => {
    assert.equal(faultsOfCodes(planted('// throws "GTM_OLD_FAULT"'), ["GTM_OLD_FAULT"]).length, 1);
  });
});

describe("the metrics of the sources", () => {
  it("are many", () => assert.ok(metricsIn(files).length >= 20, `found ${metricsIn(files).length}`));
  it("follow the rules, one kind a name", () => assert.deepEqual(faultsOfMetrics(files), []));

  const offences: readonly (readonly [string, RegExp])[] = [
    ['metrics.counter({ name: "gtm_queries", help: "x" })', /end in _total/],
    ['metrics.histogram({\n  name: "gtm_wait_ms",\n  help: "x" })', /seconds instead of ms/],
    ['metrics.gauge({ name: "queue_up", help: "x" })', /prefix gtm_/],
    ['m.gauge({ name: "gtm_x_seconds", }); m.histogram({ name: "gtm_x_seconds" })', /is gauge and histogram/],
    ['const name = "gtm_hidden_total";', /never declared/],
  ];
  for (const [text, says] of offences) {
    it(`would not pass with ${text}`, () => assert.match(faultsOfMetrics(planted(text)).join("\n"), says));
  }
});

describe("the log events of the sources", () => {
  it("are dotted words", () => assert.deepEqual(faultsOfEvents(files), []));
  for (const event of ["Report stale", "stale", "report_stale", "report.Stale", ".stale", ""]) {
    it(`would not pass as "${event}"`, () => {
      assert.equal(faultsOfEvents(planted(`log.warn("${event}", { region });`)).length, 1);
    });
  }
});

describe("the tests", () => {
  const tests = sourceFiles().filter(({ path }) => path.startsWith("test/"));
  it("are all run: none is skipped, put off, or run alone", () => assert.deepEqual(evasionsIn(tests), []));
  const evasions = [
    "it.skip(",
    "describe.only(",
    "test.todo(",
    "it('x', { skip: true }",
    "t.skip()",
    "{ todo: 'later' }",
  ];
  for (const text of evasions)
    it(`would not pass with ${text}`, () => assert.equal(evasionsIn(planted(text)).length, 1));
});
