import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CLIENT_COLUMNS, seconds, short, signedPercent, WORK_COLUMNS } from "#gtm/simulation/report/columns.ts";
import { egressCentsPerByte } from "#gtm/simulation/report/egress-price.ts";
import { aReport } from "./reports.ts";

describe("a figure", () => {
  const cases: readonly (readonly [text: string, expected: string])[] = [
    [seconds(1_234), "1.23"],
    [seconds(12_345), "12.3"],
    [seconds(123_456), "123"],
    [signedPercent(0.0123), "+1.2"],
    [signedPercent(-0.0123), "−1.2"],
    [signedPercent(0.345), "+35"],
    [short(9_999), "9999"],
    [short(12_345), "12.3k"],
    [short(4_560_000), "4.56M"],
    [short(456_000_000), "456M"],
  ];
  for (const [text, expected] of cases) it(`is written ${expected}`, () => assert.equal(text, expected));
});

describe("a column", () => {
  const [steady] = aReport().scenarios;
  const ours = steady?.policies.find(({ kind }) => kind === "ours");
  const textOf = (title: string): string | undefined =>
    ours && [...CLIENT_COLUMNS, ...WORK_COLUMNS].find((column) => column.title === title)?.text(ours);
  it("has the mean of the seeds with half its interval: 1.44 s and 1.5 s more or less 0.64", () => {
    // Seeds are 100 ms apart: 12.706 × 50 ms.
    assert.match(textOf("TTFT s") ?? "", /^1\.4\d±0\.64$/);
  });
  it("has a sign where it compares, and a dash where nothing was predicted", () => {
    assert.match(textOf("regret %") ?? "", /^−1\d±/);
    assert.equal(textOf("wait±"), "–");
  });
  it("is explained by a sentence", () => {
    for (const { says } of [...CLIENT_COLUMNS, ...WORK_COLUMNS]) assert.match(says, /^[A-Z9].+\.$/);
  });
});

describe("the price of a byte between regions", () => {
  it("is that of the region it leaves", () => {
    assert.equal(egressCentsPerByte("ap-southeast-1", "us-east-1"), 9e-9);
    assert.equal(egressCentsPerByte("us-east-1", "ap-southeast-1"), 2e-9);
  });
  it("is half of it between the neighbours in the east of the USA, nothing at home, unknown elsewhere", () => {
    assert.equal(egressCentsPerByte("us-east-1", "us-east-2"), 1e-9);
    assert.equal(egressCentsPerByte("moon-1", "moon-1"), 0);
    assert.equal(egressCentsPerByte("us-east-1", "moon-1"), null);
    assert.equal(egressCentsPerByte("moon-1", "us-east-1"), null);
  });
});
