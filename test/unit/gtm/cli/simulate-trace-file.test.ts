import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { recordedTraceOf, traceFileAt } from "#gtm/cli/simulate-trace-file.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-trace-"));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, bytes: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};
const LINE = JSON.stringify({ timestamp: 0, input_length: 600, output_length: 5, hash_ids: [1, 2] });

describe("a trace's file", () => {
  it("is read line by line, the last one without its end", () => {
    assert.deepEqual([...traceFileAt(fileOf("plain", "a\nb\r\n\nc")).lines], ["a", "b\r", "", "c"]);
  });
  it("is the same when it is compressed, whatever it is called", () => {
    assert.deepEqual([...traceFileAt(fileOf("packed", gzipSync("a\nü\n"))).lines], ["a", "ü"]);
  });
  it("is a trace by its reader's name", () => {
    const trace = recordedTraceOf(`mooncake:${fileOf("trace.jsonl.gz", gzipSync(`${LINE}\n`))}`);
    assert.equal(trace.blockTokens, 512);
    assert.equal(trace.clients[0]?.turns[0]?.promptTokens, 600);
  });
  const faults: readonly (readonly [what: string, traffic: () => string, says: RegExp])[] = [
    ["it is not there", () => `mooncake:${join(folder, "none")}`, /none: ENOENT/],
    ["it is cut", () => `claude:${fileOf("cut.gz", gzipSync(LINE).subarray(0, 30))}`, /cut\.gz: unexpected end/],
    ["a line is none", () => `mooncake:${fileOf("bad", `${LINE}\nnonsense\n`)}`, /bad:2: expected one JSON object/],
    ["the table beside it lacks", () => `ragpulse:${fileOf("rag.jsonl", "{}")}`, /block_tokens\.csv: ENOENT/],
  ];
  for (const [what, traffic, says] of faults) {
    it(`is refused by its name when ${what}`, () =>
      assert.throws(
        () => recordedTraceOf(traffic()),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, "GTM_TRACE_INVALID");
          return says.test(error.message);
        },
      ));
  }
});
