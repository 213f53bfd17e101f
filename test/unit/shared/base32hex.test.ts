import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeBase32hex, encodeBase32hex } from "#shared/base32hex.ts";

describe("base32hex", () => {
  // RFC 4648 §10, without the padding and in lower case.
  const vectors: readonly (readonly [string, string])[] = [
    ["", ""],
    ["f", "co"],
    ["fo", "cpng"],
    ["foo", "cpnmu"],
    ["foob", "cpnmuog"],
    ["fooba", "cpnmuoj1"],
    ["foobar", "cpnmuoj1e8"],
  ];
  for (const [plain, encoded] of vectors) {
    it(`writes "${plain}" as "${encoded}" and reads it back, in either case`, () => {
      assert.equal(encodeBase32hex(Buffer.from(plain)), encoded);
      for (const text of [encoded, encoded.toUpperCase()]) {
        assert.deepEqual(decodeBase32hex(text), new Uint8Array(Buffer.from(plain)));
      }
    });
  }
  it("sorts as its octets do", () => {
    const octets = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i, 255 - i));
    const encoded = octets.map(encodeBase32hex);
    assert.deepEqual(encoded, encoded.toSorted());
  });

  const wrong: readonly (readonly [string, string])[] = [
    ["w", "a letter beyond v"],
    ["co======", "padding"],
    ["c o", "a space"],
    ["c-", "a hyphen"],
    ["cp", "unused bits that are set"],
    ["c", "a character that makes no octet"],
    ["cpn", "a character too many"],
    ["cpnmuoj1e", "a character too many at the end"],
    ["c\u212a", "the Kelvin sign, which lower case rules turn into k"],
    ["c\u016f", "a letter whose low bits look like one of ours"],
    ["@", "the character before A"],
    ["`", "the character before a"],
    ["/", "the character before 0"],
    [":", "the character after 9"],
  ];
  for (const [text, because] of wrong) {
    it(`does not read ${JSON.stringify(text)}: ${because}`, () => assert.equal(decodeBase32hex(text), null));
  }
});
