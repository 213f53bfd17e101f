/** What stands in key files, and that faults in them are told without telling a key. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OperationalError } from "#shared/errors.ts";
import { RegionId } from "#shared/ids.ts";
import {
  identityKeyIn,
  identityKeyText,
  reportRingsIn,
  reportRingsText,
  ringIn,
  ringText,
} from "#shared/key-file-text.ts";
import { keyText } from "#shared/key-text.ts";
import { keyOf, ringKey } from "#test/support/key-folder.ts";

const KEY = keyText(keyOf(7));
const MADE = "2026-11-30T04:02:11Z";
const faultsOf = (parse: () => unknown): readonly string[] => {
  try {
    parse();
  } catch (fault) {
    assert.ok(fault instanceof OperationalError && fault.code === "GTM_CONFIG_INVALID", String(fault));
    assert.ok(!fault.message.includes(KEY), "a fault never tells the key");
    return fault.message.split("\n");
  }
  return [];
};

describe("a file of signing keys", () => {
  it("is read as it was written, old labels and versions depend on it", () => {
    const text = `# any comment\n\n7 current ${MADE} ${KEY}\r\n\t6  old   2026-10-30T00:00:00Z ${KEY}\n`;
    assert.deepEqual(ringIn(text, "f"), [
      { id: 7, state: "current", madeAtMs: Date.UTC(2026, 10, 30, 4, 2, 11), key: Buffer.from(keyOf(7)) },
      { id: 6, state: "old", madeAtMs: Date.UTC(2026, 9, 30), key: Buffer.from(keyOf(7)) },
    ]);
  });
  it("is written so that a person can read it", () => {
    assert.equal(
      ringText([ringKey(7)], "what they do"),
      `# llm-gtm: what they do\n# id state made key\n7 current 2026-11-30T00:00:07Z ${KEY}\n`,
    );
  });
  const cases: readonly (readonly [string, string, readonly RegExp[]])[] = [
    ["a word is missing", `7 current ${MADE}`, [/^f:1: expected id, state, time and key, found 3 words$/]],
    ["a word is too many", `7 current ${MADE} ${KEY} x`, [/^f:1: .*found 5 words$/]],
    ["the id is above 255", `256 current ${MADE} ${KEY}`, [/^f:1: expected an id from 0 to 255$/]],
    ["the id is negative", `-1 current ${MADE} ${KEY}`, [/^f:1: expected an id/]],
    ["the state is another word", `7 signs ${MADE} ${KEY}`, [/^f:1: expected next, current, old as the state$/]],
    ["there is no such day", `7 current 2026-02-30T00:00:00Z ${KEY}`, [/^f:1: expected a time such as/]],
    ["the key is short", `7 current ${MADE} ${keyText(new Uint8Array(15))}`, [/^f:1: expected at least 16 octets/]],
    ["the key is no base64", `7 current ${MADE} ${KEY.replace("=", "!")}`, [/^f:1: expected at least 16 octets/]],
    ["columns are swapped", `${KEY} current ${MADE} 7`, [/^f:1: expected an id/, /^f:1: expected at least 16/]],
    ["nothing stands in it", "# nothing", [/^f:1: expected one current key, found none$/]],
    ["two keys share an id", `7 current ${MADE} ${KEY}\n7 old ${MADE} ${KEY}`, [/^f:1: .*found 7 twice$/]],
    ["two lines are faulty", `\n7 x ${MADE} ${KEY}\n# c\n8`, [/^f:2: expected next/, /^f:4: .*found 1 words$/]],
  ];
  for (const [when, text, says] of cases) {
    it(`is refused when ${when}`, () => {
      const faults = faultsOf(() => ringIn(text, "f"));
      assert.equal(faults.length, says.length, faults.join("\n"));
      for (const [at, pattern] of says.entries()) assert.match(faults[at] ?? "", pattern);
    });
  }
  it("with a hundred faulty lines tells the first ten, and how many more there are", () => {
    const faults = faultsOf(() => ringIn("x\n".repeat(100), "f"));
    assert.deepEqual([faults.length, faults.at(-1)], [11, "f: 90 faults more"]);
  });
});

describe("a file of report keys", () => {
  const [eu, us] = [RegionId.parse("eu-central"), RegionId.parse("us-east")];
  it("is read as it was written, a region with two keys included", () => {
    const rings = new Map([
      [eu, [ringKey(8, "next"), ringKey(7)]],
      [us, [ringKey(9)]],
    ]);
    const read = reportRingsIn(reportRingsText(rings), "f");
    assert.deepEqual([...read.keys()], [eu, us]);
    assert.deepEqual(
      read.get(eu)?.map(({ id, state }) => [id, state]),
      [
        [8, "next"],
        [7, "current"],
      ],
    );
  });
  it("may have no region", () => assert.equal(reportRingsIn("# none\n", "f").size, 0));
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["a region is no name", `EU 7 current ${MADE} ${KEY}`, /^f:1: expected a region's name/],
    [
      "the region is missing",
      `7 current ${MADE} ${KEY}`,
      /^f:1: expected a region, id, state, time and key, found 4 words$/,
    ],
    ["a region has no current key", `eu 7 old ${MADE} ${KEY}`, /^f:1: eu: expected one current key, found none$/],
    [
      "a region has three keys",
      ["next", "current", "old"].map((state, id) => `eu ${id} ${state} ${MADE} ${KEY}`).join("\n"),
      /^f:1: eu: expected at most 2 keys, found 3$/,
    ],
  ];
  for (const [when, text, says] of cases) {
    it(`is refused when ${when}`, () => assert.match(faultsOf(() => reportRingsIn(text, "f"))[0] ?? "", says));
  }
});

describe("a file of the identity key", () => {
  it("is read as it was written, and as `openssl rand -base64 32` prints it", () => {
    for (const text of [identityKeyText(keyOf(7)), KEY, `${KEY}\n`]) {
      assert.deepEqual(identityKeyIn(text, "f"), Buffer.from(keyOf(7)));
    }
  });
  for (const text of ["", "# only a comment", `${KEY}\n${KEY}`, `${KEY} ${KEY}`, "c2hvcnQ=", "ü"]) {
    it(`is refused when it holds ${JSON.stringify(text.replaceAll(KEY, "<key>"))}`, () => {
      assert.match(faultsOf(() => identityKeyIn(text, "f"))[0] ?? "", /^f:\d+: expected one key, at least 16 octets/);
    });
  }
});
