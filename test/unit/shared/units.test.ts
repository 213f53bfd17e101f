import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { duration, size } from "#shared/units.ts";

describe("a duration", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["800ms", 800],
    ["20s", 20_000],
    ["20 s", 20_000],
    ["0s", 0],
    ["1.5h", 5_400_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["0.25ms", 0.25],
  ];
  for (const [text, ms] of cases) {
    it(`"${text}" is ${ms} ms`, () => assert.equal(duration.parse(text), ms));
  }
  for (const wrong of [
    "",
    "20",
    "s",
    "-5s",
    "5 minutes",
    "1h30m",
    "1e3ms",
    "5S",
    " 5s",
    "5s ",
    ".5s",
    "5.s",
    "99999999999s",
    20,
    null,
  ]) {
    it(`is not ${JSON.stringify(wrong)}, and the message shows one that is`, () => {
      const parsed = duration.safeParse(wrong);
      assert.match(parsed.error?.issues[0]?.message ?? "", /such as 800ms, 20s/);
    });
  }
  it("is a string with a pattern in a JSON Schema", () => {
    const schema = z.toJSONSchema(duration, { io: "input" });
    assert.equal(schema.type, "string");
    assert.match("800ms", new RegExp(schema.pattern ?? "^$"));
  });
});

describe("a size", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["141 GB", 141_000_000_000],
    ["80GiB", 85_899_345_920],
    ["0 B", 0],
    ["512 kB", 512_000],
    ["512 KB", 512_000],
    ["512KiB", 524_288],
    ["1.5 MB", 1_500_000],
    ["1.5MiB", 1_572_864],
    ["2 TB", 2_000_000_000_000],
    ["1TiB", 1_099_511_627_776],
    ["0.3 B", 0],
  ];
  for (const [text, bytes] of cases) {
    it(`"${text}" is ${bytes} bytes`, () => assert.equal(size.parse(text), bytes));
  }
  for (const wrong of ["", "141", "GB", "-1 GB", "141 Gb", "141 gb", "1 PB", "1  GB", "1 GB!", 141]) {
    it(`is not ${JSON.stringify(wrong)}, and the message shows one that is`, () => {
      const parsed = size.safeParse(wrong);
      assert.match(parsed.error?.issues[0]?.message ?? "", /such as 141 GB/);
    });
  }
});
