import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EVERYTHING, type PageWish } from "#edge-agent/exposition.ts";
import { NO_PAGE_MEMORY, type PageMemory, parseAlike } from "#edge-agent/exposition-layout.ts";
import { vllmPage } from "#test/support/vllm-page.ts";

const octets = (text: string): Buffer => Buffer.from(text);

/** What each of the pages said of `name`, and whether the layout of the one before it was enough. */
const read = (pages: readonly string[], name: string, wish: PageWish = EVERYTHING) => {
  let memory: PageMemory = NO_PAGE_MEMORY;
  return pages.map((text) => {
    const { page, memory: next } = parseAlike(octets(text), wish, memory);
    memory = next;
    return [page.samples.get(name)?.map(({ value }) => value) ?? null, next.misses === 0];
  });
};

describe("pages of one address", () => {
  it("with other numbers are read by the layout of the first", () => {
    assert.deepEqual(read(['# HELP a b\na{c="d"} 1\n', '# HELP a b\na{c="d"} 23.5\n'], "a"), [
      [[1], false],
      [[23.5], true],
    ]);
  });
  it("with a longer, a shorter and a special number are, too", () => {
    const pages = ["a 1\nb 2\n", "a 123456\nb 2\n", "a .5\nb 2\n", "a NaN\nb 2\n", "a 1e-3 1796000000000\nb 2\n"];
    assert.deepEqual(
      read(pages, "a")
        .slice(1)
        .map(([values]) => values),
      [[123_456], [0.5], [Number.NaN], [0.001]],
    );
    assert.deepEqual(
      read(pages, "b").slice(1),
      Array.from({ length: 4 }, () => [[2], true]),
    );
  });
  it("with another label value are read from their beginning, and then by that layout", () => {
    assert.deepEqual(read(['a{c="d"} 1\n', 'a{c="e"} 2\n', 'a{c="e"} 3\n'], "a"), [
      [[1], false],
      [[2], false],
      [[3], true],
    ]);
  });
  it("of which one was half-sent are still read by the layout of the one before", () => {
    assert.deepEqual(read(["a 1\nb 2\n", "a 3\nb", "a 4\nb 5\n"], "a"), [
      [[1], false],
      [null, false],
      [[4], true],
    ]);
  });
  it("that are never alike cost no copy each time", () => {
    const memories: PageMemory[] = [];
    for (let at = 0; at < 20; at += 1) {
      memories.push(parseAlike(octets(`a${at} 1\n`), EVERYTHING, memories.at(-1) ?? NO_PAGE_MEMORY).memory);
    }
    assert.deepEqual(
      memories.flatMap(({ layout }, at) => (layout === null ? [] : [at])),
      [0, 1, 2, 16],
    );
  });
  it("are read by no layout that another reader's names made", () => {
    const { memory } = parseAlike(octets("a 1\nb 2\n"), EVERYTHING, NO_PAGE_MEMORY);
    const wish: PageWish = { isRead: (name) => name === "b", isOpenMetrics: false };
    const { page } = parseAlike(octets("a 1\nb 2\n"), wish, memory);
    assert.deepEqual(page.samples.get("a"), []);
  });
  it("in OpenMetrics need their end mark in each of them", () => {
    const wish: PageWish = { ...EVERYTHING, isOpenMetrics: true };
    assert.deepEqual(read(["a 1\n# EOF\n", "a 2\n# EOF\n", "a 3\n"], "a", wish), [
      [[1], false],
      [[2], true],
      [null, false],
    ]);
  });
  it("keep a doubled series unknown, and a malformed line told", () => {
    let { page, memory } = parseAlike(octets("a 1\na 2\nb x\n"), EVERYTHING, NO_PAGE_MEMORY);
    ({ page, memory } = parseAlike(octets("a 3\na 4\nb x\n"), EVERYTHING, memory));
    assert.equal(memory.misses, 0);
    assert.deepEqual([...page.contradicted], ["a"]);
    assert.deepEqual(page.faults, [
      { field: "b", code: "malformed-line" },
      { field: "a", code: "duplicate" },
    ]);
  });
  it("of vLLM are alike from scrape to scrape", () => {
    const [, second] = read([vllmPage(), vllmPage()], "vllm:num_requests_running");
    assert.equal(second?.[1], true);
  });
});
