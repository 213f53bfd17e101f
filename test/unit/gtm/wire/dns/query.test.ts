import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";
import { readQuery } from "#gtm/wire/dns/query.ts";
import {
  nameOctets,
  optionOctets,
  optOctets,
  type QueryWish,
  queryOctets,
  subnetOption,
} from "#test/support/dns-client.ts";

const read = (wish: QueryWish) => {
  const query = emptyQuery();
  const outcome = readQuery(queryOctets(wish), query);
  return { outcome, query };
};

describe("a message read", () => {
  it("tells type, class and where the question ends", () => {
    const { outcome, query } = read({ name: "a.b", type: 28, class: 255 });
    assert.equal(outcome, "query");
    assert.deepEqual(
      [query.hasQuestion, query.nameEnd, query.questionEnd, query.type, query.class, query.hasOpt, query.hasSubnet],
      [true, 17, 21, 28, 255, false, false],
    );
  });
  it("tells OPT's payload size and DO", () => {
    const { query } = read({ opt: { payload: 4_096, flags: 0x8000 } });
    assert.deepEqual([query.hasOpt, query.payloadOctets, query.isDnssecOk], [true, 4_096, true]);
  });
  it("tells the client subnet's family, length and place", () => {
    const { query } = read({
      opt: { options: Buffer.concat([optionOctets(100, Buffer.from("abc")), subnetOption(1, 20, [192, 0, 0x20])]) },
    });
    assert.deepEqual([query.hasSubnet, query.subnetFamily, query.subnetBits], [true, 4, 20]);
    assert.deepEqual([...query.octets.subarray(query.subnetAt + 4, query.subnetAt + 7)], [192, 0, 0x20]);
  });
  it("forgets what the message before it held", () => {
    const query = emptyQuery();
    readQuery(queryOctets({ opt: { payload: 4_096, flags: 0x8000, options: subnetOption(1, 24, [1, 2, 3]) } }), query);
    readQuery(queryOctets({ flags: 0x2800 }), query);
    assert.deepEqual(
      [query.hasQuestion, query.hasOpt, query.hasSubnet, query.isDnssecOk, query.payloadOctets],
      [false, false, false, false, 0],
    );
  });
  it("finds OPT behind other records, with pointers in their names", () => {
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]);
    const { outcome, query } = read({
      counts: [1, 1, 0, 2],
      tail: Buffer.concat([record, record, optOctets({ payload: 700 })]),
    });
    assert.deepEqual([outcome, query.payloadOctets], ["query", 700]);
  });

  const OUTCOMES: readonly { readonly what: string; readonly wish: QueryWish; readonly is: string }[] = [
    { what: "a response", wish: { flags: 0x8000 }, is: "response" },
    { what: "an update", wish: { flags: 0x2800 }, is: "notimp" },
    { what: "the root's question", wish: { name: "" }, is: "query" },
    { what: "a name of 255 octets", wish: { name: `${"a".repeat(63)}.`.repeat(3) + "a".repeat(61) }, is: "query" },
    { what: "a name of 256 octets", wish: { name: `${"a".repeat(63)}.`.repeat(3) + "a".repeat(62) }, is: "formerr" },
    { what: "records that are told and not there", wish: { counts: [1, 0, 0, 1] }, is: "formerr" },
    {
      what: "a record cut in its fixed part",
      wish: { counts: [1, 0, 0, 1], tail: Buffer.from([0, 0, 41, 4]) },
      is: "formerr",
    },
    {
      what: "a record with a label of kind 0x40",
      wish: { counts: [1, 1, 0, 0], tail: Buffer.concat([Buffer.from([0x41]), Buffer.alloc(20)]) },
      is: "formerr",
    },
    {
      what: "OPT of version 255 with rubbish for options",
      wish: { opt: { version: 255, options: Buffer.from([1, 2, 3]) } },
      is: "badvers",
    },
    {
      what: "OPT of version 1, and a second OPT",
      wish: { opt: { version: 1 }, counts: [1, 0, 0, 2], tail: optOctets({}) },
      is: "formerr",
    },
    { what: "an option header cut off", wish: { opt: { options: Buffer.from([0, 100, 0]) } }, is: "formerr" },
    {
      what: "a question with a pointer in its name",
      wish: { question: Buffer.concat([Buffer.from([1, 0x61, 0xc0, 12]), Buffer.from([0, 1, 0, 1])]) },
      is: "formerr",
    },
    {
      what: "a question of a name and half a type",
      wish: { question: Buffer.concat([nameOctets("a"), Buffer.from([0])]) },
      is: "formerr",
    },
  ];
  for (const { what, wish, is } of OUTCOMES) it(`is ${is}: ${what}`, () => assert.equal(read(wish).outcome, is));

  it("is read to its end, however many records it has", () => {
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    const records = Buffer.concat([...Array.from({ length: 5_000 }, () => record), optOctets({ payload: 700 })]);
    const { outcome, query } = read({ counts: [1, 0, 0, 5_001], tail: records });
    assert.deepEqual([outcome, query.payloadOctets], ["query", 700]);
  });
});
