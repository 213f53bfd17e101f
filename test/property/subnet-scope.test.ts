/** Laws of scope: whoever shares an answer would have got the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { holdsAddress, lastOf, masked, mostPrefixBits, type Subnet } from "#gtm/datalayer/subnet.ts";
import { scopePrefixBits } from "#gtm/datalayer/subnet-scope.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 1_000) };

/** Close together, so that they contain and touch each other. */
const subnet: fc.Arbitrary<Subnet> = fc
  .record({ octets: fc.integer({ min: 0, max: 0xfff }), prefixBits: fc.integer({ min: 8, max: 24 }) })
  .map(({ octets, prefixBits }) => masked(4, 10 * 2 ** 24 + octets * 256, prefixBits));

/** Which of the operator's subnets an address belongs to. */
const owner = (address: number, configured: readonly Subnet[]): Subnet | null =>
  configured
    .filter((one) => holdsAddress(one, 4, address))
    .reduce<Subnet | null>((best, one) => (best === null || one.prefixBits > best.prefixBits ? one : best), null);

/** Whether every address of a block lies in the range and is located by the same subnet; the corners of all subnets suffice. */
const isUniform = (block: Subnet, range: Subnet, configured: readonly Subnet[], source: Subnet | null): boolean =>
  range.first <= block.first &&
  lastOf(block) <= lastOf(range) &&
  [block, ...configured]
    .flatMap((one) => [one.first, lastOf(one)])
    .filter((address) => holdsAddress(block, 4, address))
    .every((address) => owner(address, configured) === source);

describe("the scope of a located answer", () => {
  it("is the shortest prefix in which all are located by the same subnet as the client, but a /24 at the finest", () => {
    const distinct = fc.uniqueArray(subnet, { maxLength: 6, selector: (one) => `${one.first}/${one.prefixBits}` });
    fc.assert(
      fc.property(subnet, distinct, (client, configured) => {
        const source = owner(client.first, configured);
        const range = source ?? masked(4, client.first, 8);
        const expected = Array.from({ length: mostPrefixBits(4) }, (_, bits) => bits).find((bits) =>
          isUniform(masked(4, client.first, bits), range, configured, source),
        );
        const bits = scopePrefixBits(client, { first: range.first, last: lastOf(range) }, configured, source);
        assert.equal(bits, expected ?? mostPrefixBits(4));
      }),
      runs,
    );
  });
});
