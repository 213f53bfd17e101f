/** Rows P60, P61 and P69: extended errors, NSID and keepalive. */
import assert from "node:assert/strict";
import { askUdp, optionOctets, type QueryWish } from "#test/support/dns-client.ts";
import { startDns } from "#test/support/dns-zone.ts";
import {
  both,
  FRANKFURT,
  hasNo,
  hasNsid,
  hasOpt,
  OPTION,
  optionOf,
  type Row,
  type Sequence,
  withOptions,
  Z,
} from "./row.ts";

export const EXTENDED_ERRORS: readonly Row[] = [
  {
    row: "P60",
    what: "a name outside is REFUSED with Not Authoritative",
    query: { name: "example.com", opt: {} },
    expect: (reply) => assert.deepEqual([reply.rcode, reply.extendedError], [5, 20]),
  },
  {
    row: "P60",
    what: "without OPT there is no extended error",
    query: { name: "example.com" },
    expect: (reply) => assert.deepEqual([reply.rcode, reply.opt], [5, null]),
  },
  {
    row: "P60",
    what: "a sound answer has none",
    query: { opt: FRANKFURT },
    expect: (reply) => assert.equal(reply.extendedError, null),
  },
];

export const NSIDS: readonly Row[] = [
  {
    row: "P61",
    what: "NSID is given to whoever asks where it is configured",
    of: "named",
    query: withOptions(optionOctets(OPTION.nsid, Buffer.alloc(0))),
    expect: both(hasOpt, hasNsid),
  },
  {
    row: "P61",
    what: "NSID is given with a negative answer and a refusal too",
    of: "named",
    query: withOptions(optionOctets(OPTION.nsid, Buffer.alloc(0)), { name: "example.com" }),
    expect: both((reply) => assert.equal(reply.rcode, 5), hasNsid),
  },
  { row: "P61", what: "NSID is not given unasked", of: "named", query: { opt: {} }, expect: hasNo(OPTION.nsid) },
];

export const KEEPALIVES: readonly Row[] = [
  {
    row: "P69",
    what: "keepalive over TCP says how long a connection may be idle, in units of 100 ms",
    query: withOptions(optionOctets(OPTION.keepalive, Buffer.alloc(0))),
    over: ["tcp"],
    expect: (reply) => assert.equal(optionOf(reply, OPTION.keepalive)?.readUInt16BE(0), 100),
  },
  { row: "P69", what: "unasked it says nothing", query: { opt: {} }, expect: hasNo(OPTION.keepalive) },
  {
    row: "P69",
    what: "over UDP it is not returned",
    query: withOptions(optionOctets(OPTION.keepalive, Buffer.alloc(0))),
    over: ["udp"],
    expect: hasNo(OPTION.keepalive),
  },
  {
    row: "P69",
    what: "a time in a query means nothing (RFC 7828 §3.2.1)",
    query: withOptions(optionOctets(OPTION.keepalive, Buffer.from([0, 9]))),
    expect: both((reply) => assert.equal(reply.rcode, 0), hasNo(OPTION.keepalive)),
  },
];

export const STALE_ANSWERS: readonly Sequence[] = [
  {
    row: "P60",
    what: "answers while the facts behind them are not renewed say Stale Answer, to those who ask with OPT",
    run: async () => {
      await using dns = await startDns();
      dns.setWorld({ areAgesFrozen: true });
      const errorOf = async (query: QueryWish) => (await askUdp(dns, query)).extendedError;
      assert.equal(await errorOf({ opt: FRANKFURT }), 3);
      assert.equal(await errorOf({ name: `somebody.c.${Z}`, opt: FRANKFURT }), 3);
      assert.equal(await errorOf({ name: `ns1.${Z}`, opt: {} }), null);
      assert.equal((await askUdp(dns, {})).opt, null);
      dns.setWorld({ areAgesFrozen: false });
      assert.equal(await errorOf({ opt: FRANKFURT }), null);
    },
  },
];
