import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { linearScale, logScale } from "#gtm/simulation/report/axes.ts";
import { reportPage } from "#gtm/simulation/report/page.ts";
import { aReport } from "./reports.ts";

const page = reportPage(aReport());
const VOID = new Set(["meta", "!doctype"]);

/** Names of elements that were opened and not closed in order. */
const unclosed = (markup: string): readonly string[] => {
  const open: string[] = [];
  for (const [, slash, name = ""] of markup.replace(/<style>.*<\/style>/s, "").matchAll(/<(\/?)([a-z!][a-z0-9]*)/gi)) {
    if (VOID.has(name.toLowerCase())) continue;
    if (slash === "") open.push(name);
    else if (open.at(-1) === name) open.pop();
    else open.push(`/${name}`);
  }
  return open;
};

describe("the page of a report", () => {
  it("fetches nothing and runs nothing", () => {
    assert.doesNotMatch(page, /<script|<link|<img|src=|url\(|@import|https?:/i);
  });
  it("closes every element that it opens", () => assert.deepEqual(unclosed(page), []));
  it("names every scenario and every policy", () => {
    for (const name of ["steady", "overload", "gtm", "gorgo-like", "drowned", "oracle"])
      assert.match(page, new RegExp(name));
  });
  it("shows names as text, whatever they hold", () => {
    assert.match(reportPage(aReport("<b>&")), /&lt;b&gt;&amp;/);
    assert.doesNotMatch(reportPage(aReport("<b>&")), /<b>&/);
  });
  it("draws a line for each policy whose waits are bounded, and says whose are not", () => {
    assert.match(page, /Waits grow to the end under drowned:/);
    const [, overload = ""] = page.split('id="s-overload"');
    assert.match(overload, /<path [^>]*class="line ours"/);
    const [distribution = ""] = overload.split("</figure>");
    assert.doesNotMatch(distribution, /<title>drowned<\/title>/);
  });
  it("says when it was broken off", () => {
    assert.match(reportPage({ ...aReport(), isComplete: false }), /Broken off/);
    assert.doesNotMatch(page, /Broken off/);
  });
  it("is the same text for the same report", () => assert.equal(reportPage(aReport()), page));
});

describe("a scale", () => {
  it("has round ticks within its range", () => {
    assert.deepEqual(linearScale(0, 12, 0, 100).ticks, [0, 5, 10]);
    assert.deepEqual(linearScale(0, 1, 0, 100).ticks, [0, 0.2, 0.4, 0.6, 0.8, 1]);
    assert.deepEqual(logScale(0.3, 25, 0, 100).ticks, [0.5, 1, 2, 5, 10, 20]);
  });
  it("keeps what is beyond it at its edge", () => {
    assert.equal(linearScale(0, 10, 0, 100).at(20), 100);
    assert.equal(logScale(1, 10, 0, 100).at(0.1), 0);
  });
});
