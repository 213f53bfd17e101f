import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sipHash, sipKey } from "#gtm/wire/dns/siphash.ts";

/** The octets 0, 1, 2, …, as the reference implementation's vectors have them for key and data. */
const counting = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i);

describe("SipHash-2-4", () => {
  // https://github.com/veorq/SipHash, vectors.h; 15 octets are the example of the paper's appendix A.
  const cases: readonly (readonly [octets: number, hash: string])[] = [
    [0, "310e0edd47db6f72"],
    [1, "fd67dc93c539f874"],
    [7, "37d1018bf50002ab"],
    [8, "6224939a79f5f593"],
    [15, "e545be4961ca29a1"],
    [63, "724506eb4c328a95"],
  ];
  for (const [octets, hash] of cases) {
    it(`of ${octets} octets is ${hash}`, () => {
      const out = Buffer.alloc(8);
      // What lies behind the data is not looked at.
      sipHash(sipKey(counting(16)), counting(64), octets, out, 0);
      assert.equal(out.toString("hex"), hash);
    });
  }
  it("takes no key of another length", () => assert.throws(() => sipKey(counting(15)), RangeError));
});
