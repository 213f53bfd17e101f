/** Rows P1 to P9: the header and the question of every reply. */
import assert from "node:assert/strict";
import { nameOctets } from "#test/support/dns-client.ts";
import { FRANKFURT, flagsOf, isAnswer, type Row, Z } from "./row.ts";

export const BASICS: readonly Row[] = [
  {
    row: "P1",
    what: "is answered with AA, its own ID and question, and one address",
    query: { id: 0xbeef, opt: FRANKFURT },
    expect: (reply, query) => {
      isAnswer("192.0.2.10")(reply);
      assert.deepEqual(flagsOf(reply), { qr: 1, opcode: 0, aa: 1, tc: 0, rd: 0, low: 0 });
      assert.equal(reply.packet.id, 0xbeef);
      const questionEnd = 12 + nameOctets(`chat.${Z}`).length + 4;
      assert.deepEqual(reply.octets.subarray(12, questionEnd), query.subarray(12, questionEnd));
      assert.equal(reply.packet.answers?.[0] !== undefined && "ttl" in reply.packet.answers[0], true);
    },
  },
  {
    row: "P2",
    what: "gets RD back and no RA",
    query: { flags: 0x0100 },
    expect: (reply) => assert.deepEqual([flagsOf(reply).rd, flagsOf(reply).low], [1, 0]),
  },
  {
    row: "P3",
    what: "does not get AD, CD and Z back",
    query: { flags: 0x0070 },
    expect: (reply) => assert.equal(flagsOf(reply).low, 0),
  },
  {
    row: "P4",
    what: "is answered as if AA, RA and TC were clear",
    query: { flags: 0x0680, opt: FRANKFURT },
    expect: (reply) => {
      isAnswer("192.0.2.10")(reply);
      assert.deepEqual([flagsOf(reply).tc, flagsOf(reply).low], [0, 0]);
    },
  },
  {
    row: "P7",
    what: "gets its letter case back octet by octet, and the owner as a pointer to it",
    query: { name: "ChAt.gSlB.ExAmPlE.oRg", opt: FRANKFURT },
    expect: (reply, query) => {
      isAnswer("192.0.2.10")(reply);
      const questionEnd = 12 + nameOctets(`chat.${Z}`).length + 4;
      assert.deepEqual(reply.octets.subarray(12, questionEnd), query.subarray(12, questionEnd));
      assert.equal(reply.octets.readUInt16BE(questionEnd), 0xc00c);
    },
  },
  {
    row: "P8",
    what: "points backwards only",
    query: { name: `nope.${Z}` },
    expect: (reply) => {
      const questionEnd = 12 + nameOctets(`nope.${Z}`).length + 4;
      assert.equal(reply.octets.readUInt16BE(questionEnd), 0xc000 | (12 + 5), "the SOA's owner is the question's tail");
    },
  },
  {
    row: "P9",
    what: "gives all addresses of one answer the same TTL",
    query: { name: `front.${Z}` },
    expect: (reply) => {
      isAnswer("198.51.100.8", "198.51.100.9")(reply);
      const ttls = (reply.packet.answers ?? []).map((one) => ("ttl" in one ? one.ttl : null));
      assert.equal(new Set(ttls).size, 1);
    },
  },
];
