/** Numbers as a person reads them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { age, bytes, count, fraction, milliseconds, untilText } from "#gtm/cli/quantity.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";

type Case = { readonly given: number | null; readonly shown: string };
const groups: readonly { what: string; format: (value: number | null) => string; cases: readonly Case[] }[] = [
  {
    what: "an age",
    format: age,
    cases: [
      { given: null, shown: "-" },
      { given: -5, shown: "0.0 s" },
      { given: 740, shown: "0.7 s" },
      { given: 9_949, shown: "9.9 s" },
      { given: 9_950, shown: "10 s" },
      { given: 119_499, shown: "119 s" },
      { given: 119_500, shown: "2 min" },
      { given: 3_600_000, shown: "60 min" },
      { given: 7_500_000, shown: "2 h 5 min" },
      { given: 7_199_999, shown: "2 h 0 min" },
      { given: 187_200_000, shown: "2 d 4 h" },
    ],
  },
  {
    what: "a size",
    format: bytes,
    cases: [
      { given: null, shown: "-" },
      { given: 0, shown: "0.0 MB" },
      { given: 999e6, shown: "999.0 MB" },
      { given: 141e9, shown: "141.0 GB" },
      { given: 1.5e12, shown: "1.5 TB" },
    ],
  },
  {
    what: "a count",
    format: count,
    cases: [
      { given: null, shown: "-" },
      { given: 0, shown: "0" },
      { given: 999.6, shown: "1 000" },
      { given: 18_432, shown: "18 432" },
      { given: 3_940_000, shown: "3.9 M" },
    ],
  },
  {
    what: "a fraction",
    format: fraction,
    cases: [
      { given: null, shown: "-" },
      { given: 0.625, shown: "0.63" },
    ],
  },
  {
    what: "a time",
    format: milliseconds,
    cases: [
      { given: null, shown: "-" },
      { given: 80.4, shown: "80 ms" },
      { given: 1_240, shown: "1.24 s" },
      { given: -1_240, shown: "-1.24 s" },
    ],
  },
];
for (const { what, format, cases } of groups) {
  describe(what, () => {
    for (const { given, shown } of cases) {
      it(`of ${given} is "${shown}"`, () => {
        assert.equal(format(given), shown);
      });
    }
  });
}

describe("an instant", () => {
  it("has no fractions of a second and says that it is UTC", () => {
    assert.equal(instant("2026-11-30T04:02:11.123Z"), "2026-11-30 04:02:11Z");
  });
  it("at which an order ends comes with the time until then", () => {
    assert.equal(
      untilText({ expiresAt: "2026-11-30T06:00:00.000Z", expiresInMs: 7_140_000 }),
      ", until 2026-11-30 06:00:00Z (in 119 min)",
    );
    assert.equal(untilText({ expiresAt: null, expiresInMs: null }), ", until taken back");
  });
});
