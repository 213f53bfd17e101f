import assert from "node:assert/strict";
import { isIP } from "node:net";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readAddress } from "#gtm/wire/dns/peer-address.ts";

const hexOf = (text: string): string | null => {
  const octets = new Uint8Array(16).fill(0xaa);
  const length = readAddress(text, octets);
  return length === 0 ? null : Buffer.from(octets.subarray(0, length)).toString("hex");
};

describe("an address as octets", () => {
  const cases: readonly (readonly [text: string, hex: string | null])[] = [
    ["192.0.2.1", "c0000201"],
    ["::ffff:192.0.2.1", "c0000201"],
    ["::FFFF:c000:201", "c0000201"],
    ["2001:db8::1", "20010db8000000000000000000000001"],
    ["2001:db8::", "20010db8000000000000000000000000"],
    ["::", "00000000000000000000000000000000"],
    ["::1", "00000000000000000000000000000001"],
    ["1:2:3:4:5:6:7:8", "00010002000300040005000600070008"],
    ["64:ff9b::192.0.2.1", "0064ff9b0000000000000000c0000201"],
    ["fe80::1%eth0", "fe800000000000000000000000000001"],
    ...[
      "",
      "zz",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.256",
      "1..2.3",
      ":",
      "1:2",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "12345::",
      "::1:",
    ].map((text) => [text, null] as const),
  ];
  for (const [text, hex] of cases) it(`"${text}" is ${hex ?? "none"}`, () => assert.equal(hexOf(text), hex));

  it("is read of every address that Node takes for one", () => {
    fc.assert(fc.property(fc.ipV4(), (text) => hexOf(text)?.length === 8));
    fc.assert(fc.property(fc.ipV6(), (text) => isIP(text) === 0 || hexOf(text) !== null));
  });
});
