import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeName, foldOctet, hashName, isWithin, labelText, matchesName } from "#gtm/wire/dns/name.ts";

const folded = (name: string): Uint8Array => encodeName(name).map(foldOctet);
const within = (name: string, zone: string): boolean => {
  const octets = encodeName(name);
  return isWithin(octets, 0, octets.length, folded(zone));
};

describe("a name as octets", () => {
  it("has a length in front of each label and the root behind", () =>
    assert.deepEqual([...encodeName("ab.c")], [2, 0x61, 0x62, 1, 0x63, 0]));
  it("is the same with a dot at the end, and one octet for the root", () => {
    assert.deepEqual(encodeName("ab.c."), encodeName("ab.c"));
    assert.deepEqual([...encodeName("")], [0]);
  });
  it("takes an escaped dot and a decimal escape for one octet of a label (RFC 1035 §5.1)", () =>
    assert.deepEqual([...encodeName("a\\.b\\009.c")], [4, 0x61, 0x2e, 0x62, 9, 1, 0x63, 0]));
  it("of more than 63 octets a label, or 255 in all, is a bug", () => {
    assert.throws(() => encodeName("a".repeat(64)), /label of 64/);
    assert.throws(() => encodeName("a..b"), /label of 0/);
    assert.throws(() => encodeName(`${"a".repeat(63)}.`.repeat(4)), /257 octets/);
  });
});

describe("names compared", () => {
  it("are the same whatever the case of ASCII letters, and of nothing else", () => {
    const octets = encodeName("ChAt.Example");
    assert.ok(matchesName(octets, 0, folded("chat.example")));
    assert.equal(hashName(octets, 0, octets.length), hashName(folded("chat.example"), 0, octets.length));
    // "[" and "{" differ by the bit that letters of two cases differ by.
    assert.ok(!matchesName(encodeName("a[b"), 0, folded("a{b")));
  });
  it("lie below another by whole labels only", () => {
    assert.ok(within("a.gslb.example", "gslb.example"));
    assert.ok(within("GSLB.example", "gslb.example"));
    assert.ok(!within("xgslb.example", "gslb.example"));
    assert.ok(!within("example", "gslb.example"));
    // A label whose last octets look like the zone's first label with its length.
    assert.ok(!within("x\\004gslb.example", "gslb.example"));
  });
  it("give a label as lower-case text, one character an octet", () =>
    assert.equal(labelText(encodeName("aB\\200.c"), 0), "ab\u00c8"));
});
