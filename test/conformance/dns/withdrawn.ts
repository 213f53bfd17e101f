/** Row P17: names whose regions are all unavailable; never NXDOMAIN, the same for everybody, and not for long. */
import assert from "node:assert/strict";
import { type Reply, subnetOption } from "#test/support/dns-client.ts";
import { AAAA, FRANKFURT, type Row, Z } from "./row.ts";

const SINGAPORE = { options: subnetOption(1, 24, [203, 0, 113]) };

type Given = { readonly rcode: number; readonly data: readonly string[]; readonly error: number };

const gives =
  ({ rcode, data, error }: Given) =>
  (reply: Reply): void => {
    assert.deepEqual([reply.rcode, reply.data, reply.extendedError, reply.scope], [rcode, data, error, 0]);
    const [first] = reply.packet.answers ?? [];
    const ttl = first !== undefined && "ttl" in first ? first.ttl : reply.soa?.ttl;
    assert.ok((ttl ?? 0) <= 5, "not to be kept for long");
  };

const CASES: readonly (Given & { readonly pool: string; readonly what: string })[] = [
  { pool: "chat", what: "the first region of its order, error 22", rcode: 0, data: ["192.0.2.30"], error: 22 },
  { pool: "spare", what: "its addresses, error 22", rcode: 0, data: ["203.0.113.99"], error: 22 },
  { pool: "quiet", what: "NODATA, error 22", rcode: 0, data: [], error: 22 },
  { pool: "asia", what: "SERVFAIL, error 22", rcode: 2, data: [], error: 22 },
  {
    pool: "strict",
    what: "SERVFAIL, error 18, where its data may enter no region of the order",
    rcode: 2,
    data: [],
    error: 18,
  },
];

export const WITHDRAWN: readonly Row[] = [
  ...CASES.flatMap(({ pool, what, ...given }) =>
    [FRANKFURT, SINGAPORE].map(
      (opt, at): Row => ({
        row: "P17",
        what: `a pool's last resort: ${what}, asked from ${at === 0 ? "Frankfurt" : "Singapore"}`,
        of: "withdrawn",
        query: { name: `${pool}.${Z}`, opt },
        expect: gives(given),
      }),
    ),
  ),
  {
    row: "P17, P60",
    what: "no extended error without OPT",
    of: "withdrawn",
    query: { name: `chat.${Z}` },
    expect: (reply) => assert.deepEqual([reply.rcode, reply.opt, reply.extendedError], [0, null, null]),
  },
  {
    row: "P17",
    what: "AAAA: the first region of the order that has IPv6",
    of: "withdrawn",
    query: { type: AAAA, opt: FRANKFURT },
    expect: gives({ rcode: 0, data: ["2001:db8:20::20"], error: 22 }),
  },
  {
    row: "P17",
    what: "AAAA of the last resort's addresses though no region has IPv6",
    of: "withdrawn",
    query: { name: `spare.${Z}`, type: AAAA, opt: FRANKFURT },
    expect: gives({ rcode: 0, data: ["2001:db8::99"], error: 22 }),
  },
];
