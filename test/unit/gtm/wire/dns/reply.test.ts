import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeImage } from "#gtm/wire/dns/codec.ts";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";
import { encodeExtendedError } from "#gtm/wire/dns/edns.ts";
import { emptyReply, type Image } from "#gtm/wire/dns/image.ts";
import { readQuery } from "#gtm/wire/dns/query.ts";
import { writeReply } from "#gtm/wire/dns/reply.ts";
import { type QueryWish, queryOctets, type Reply, readReply, subnetOption } from "#test/support/dns-client.ts";

const address = (last: number) => ({ ttlSeconds: 20, data: { type: "A" as const, address: `192.0.2.${last}` } });
const imageOf = (answers: number, additional: number, wish: Partial<Image> = {}): Image => ({
  ...encodeImage({
    rcode: 0,
    isAuthoritative: true,
    error: null,
    answers: Array.from({ length: answers }, (_, i) => ({ owner: "question" as const, ...address(i) })),
    authority: [],
    additional: Array.from({ length: additional }, (_, i) => ({ owner: { name: "ns.example.org" }, ...address(i) })),
  }),
  ...wish,
});
const written = (wish: QueryWish, image: Image, mostOctets: number, scopeBits: number | null = 0): Reply => {
  const query = emptyQuery();
  readQuery(queryOctets(wish), query);
  const out = Buffer.alloc(mostOctets);
  return readReply(out.subarray(0, writeReply(query, { ...emptyReply(image), scopeBits, mostOctets, out })));
};
const shape = ({ packet, octets }: Reply) => ({
  isTruncated: packet.flag_tc,
  answers: packet.answers?.length,
  additional: (packet.additionals ?? []).filter(({ type }) => type !== "OPT").length,
  isWithin: octets.length,
});

describe("a reply that must fit", () => {
  it("is whole where it does", () =>
    assert.deepEqual(shape(written({}, imageOf(2, 2), 512)), {
      isTruncated: false,
      answers: 2,
      additional: 2,
      isWithin: 39 + 2 * 16 + 2 * 30,
    }));
  it("goes without its additional section, and without TC, where only that is too much (RFC 2181 §9)", () =>
    assert.deepEqual(shape(written({}, imageOf(20, 20), 512)), {
      isTruncated: false,
      answers: 20,
      additional: 0,
      isWithin: 39 + 20 * 16,
    }));
  it("is cut to nothing, with TC, where its answers are too much; OPT and what it says stay", () => {
    const image = imageOf(40, 1, { error: encodeExtendedError("no-reachable-authority", "no region can serve") });
    const reply = written({ opt: { payload: 512, options: subnetOption(1, 24, [192, 0, 2]) } }, image, 512, 24);
    assert.deepEqual({ ...shape(reply), isWithin: 0 }, { isTruncated: true, answers: 0, additional: 0, isWithin: 0 });
    assert.deepEqual([reply.scope, reply.extendedError], [24, 22]);
  });
  it("counts OPT as part of it: what fits by an octet does, what does not is cut", () => {
    const wish = { opt: {} };
    const octets = written(wish, imageOf(20, 0), 1_232).octets.length;
    assert.equal(written(wish, imageOf(20, 0), octets).packet.flag_tc, false);
    assert.equal(written(wish, imageOf(20, 0), octets - 1).packet.flag_tc, true);
  });
});

describe("a reply's OPT", () => {
  it("holds the upper bits of the code", () =>
    assert.equal(written({ opt: {} }, imageOf(0, 0, { rcode: 0x123 }), 512).rcode, 0x123));
  it("does not speak of the client's subnet where the reply does not", () =>
    assert.equal(
      written({ opt: { options: subnetOption(1, 24, [192, 0, 2]) } }, imageOf(1, 0), 512, null).scope,
      null,
    ));
});
