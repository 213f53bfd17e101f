/** Rows P31 to P35: aliases. */
import assert from "node:assert/strict";
import { AAAA, ANY, both, CNAME, countsOf, FRANKFURT, hasScope, holds, type Row, Z } from "./row.ts";

const ANSWER_SOA = [`${Z} SOA`];

const NAME_SERVERS = [`sub.${Z} NS ns1.sub.${Z}`, `sub.${Z} NS ns.example.net`];

export const ALIASES: readonly Row[] = [
  {
    row: "P31",
    what: "an alias of a name of ours is followed by that name's addresses",
    query: { name: `alias.${Z}` },
    expect: holds(0, [`alias.${Z} CNAME host.${Z}`, `host.${Z} A 192.0.2.61`], []),
  },
  {
    row: "P31",
    what: "so is an alias of an alias, step by step",
    query: { name: `CHAIN.${Z}` },
    expect: holds(0, [`CHAIN.${Z} CNAME alias.${Z}`, `alias.${Z} CNAME host.${Z}`, `host.${Z} A 192.0.2.61`], []),
  },
  {
    row: "P31",
    what: "of a wildcard's name, with that name as owner",
    query: { name: `to-wild.${Z}` },
    expect: holds(0, [`to-wild.${Z} CNAME x.wild.${Z}`, `x.wild.${Z} A 192.0.2.62`], []),
  },
  {
    row: "P31",
    what: "of the front, whose addresses are the same for everybody",
    query: { name: `front-alias.${Z}` },
    expect: both((reply) => assert.equal(countsOf(reply)[1], 3), hasScope(null)),
  },
  {
    row: "P31",
    what: "of a steered name, alone (RFC 7871 §7.2.1), with scope 0",
    query: { name: `steered.${Z}`, opt: FRANKFURT },
    expect: both(holds(0, [`steered.${Z} CNAME chat.${Z}`], []), hasScope(0)),
  },
  {
    row: "P31",
    what: "of a conversation's label, alone",
    query: { name: `talk.${Z}` },
    expect: holds(0, [`talk.${Z} CNAME abc.c.${Z}`], []),
  },
  {
    row: "P31",
    what: "of a name below a cut, with the referral",
    query: { name: `to-sub.${Z}` },
    expect: holds(0, [`to-sub.${Z} CNAME www.sub.${Z}`], NAME_SERVERS),
  },
  {
    row: "P32",
    what: "CNAME asked for is given alone",
    query: { name: `chain.${Z}`, type: CNAME },
    expect: holds(0, [`chain.${Z} CNAME alias.${Z}`], []),
  },
  {
    row: "P32, P39",
    what: "ANY of an alias is the alias",
    query: { name: `alias.${Z}`, type: ANY },
    expect: holds(0, [`alias.${Z} CNAME host.${Z}`], []),
  },
  {
    row: "P33",
    what: "an alias of a name outside is given alone",
    query: { name: `away.${Z}` },
    expect: holds(0, [`away.${Z} CNAME www.example.net`], []),
  },
  {
    row: "P34",
    what: "an alias of a name without the type is followed by SOA",
    query: { name: `alias.${Z}`, type: AAAA },
    expect: holds(0, [`alias.${Z} CNAME host.${Z}`], ANSWER_SOA),
  },
  {
    row: "P35",
    what: "an alias of a name that is not there is NXDOMAIN, with the alias and SOA (RFC 6604 §3)",
    query: { name: `gone.${Z}` },
    expect: holds(3, [`gone.${Z} CNAME missing.${Z}`], ANSWER_SOA),
  },
];
