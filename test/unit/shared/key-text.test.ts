/** Keys as text. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyIn, keyText } from "#shared/key-text.ts";

describe("a key as text", () => {
  it("is base64, and read as it was written", () => {
    for (const octets of [16, 17, 18, 32, 1_024]) {
      const key = Buffer.alloc(octets, 0xfb);
      assert.deepEqual(keyIn(keyText(key)), key);
    }
  });
  it("is read in the alphabet of URLs as well, and without padding", () => {
    const key = Buffer.alloc(32, 0xfb);
    assert.deepEqual(keyIn(key.toString("base64url")), key);
  });
  for (const [what, text] of [
    ["fifteen octets", keyText(new Uint8Array(15))],
    ["more than a thousand octets", keyText(new Uint8Array(1_025))],
    ["nothing", ""],
    ["hexadecimal digits apart by colons", "ab:".repeat(20)],
    ["a line break inside", `${"A".repeat(22)}\n${"A".repeat(22)}`],
    ["padding inside", `${"A".repeat(22)}==${"A".repeat(22)}`],
  ] as const) {
    it(`is none: ${what}`, () => assert.equal(keyIn(text), null));
  }
});
