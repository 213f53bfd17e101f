import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createHmacSha256 } from "#shared/hmac.ts";

const hexOf = (code: string): string => Buffer.from(code, "latin1").toString("hex");
/** About as long as what is hashed in place. */
const long = fc.integer({ min: 500, max: 530 }).map((letters) => "é".repeat(letters));

describe("the cases of RFC 4231", () => {
  const cases: readonly { name: string; key: Buffer; message: string | Buffer; expected: string }[] = [
    {
      name: "1: a short key",
      key: Buffer.alloc(20, 0x0b),
      message: "Hi There",
      expected: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    },
    {
      name: "2: a key shorter than the digest",
      key: Buffer.from("Jefe"),
      message: "what do ya want for nothing?",
      expected: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    },
    {
      name: "6: a key longer than a block",
      key: Buffer.alloc(131, 0xaa),
      message: "Test Using Larger Than Block-Size Key - Hash Key First",
      expected: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    },
  ];
  for (const { name, key, message, expected } of cases) {
    it(`come out: ${name}`, () => assert.equal(hexOf(createHmacSha256(key)(message)), expected));
  }
});

describe("any key and any messages, one after the other", () => {
  it("give what Node's createHmac gives, and an earlier code stays what it was", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array(), long), { maxLength: 5 }),
        (key, messages) => {
          const hmac = createHmacSha256(key);
          const codes = messages.map(hmac);
          const expected = messages.map((message) => createHmac("sha256", key).update(message).digest("hex"));
          assert.deepEqual(codes.map(hexOf), expected);
        },
      ),
    );
  });
});
