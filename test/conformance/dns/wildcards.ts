/** Rows P36 to P38: wildcards. */
import { AAAA, holds, isNodata, isNxdomain, type Row, Z } from "./row.ts";

export const WILDCARDS: readonly Row[] = [
  ...[`x.wild.${Z}`, `a.b.wild.${Z}`, `*.wild.${Z}`].map(
    (name): Row => ({
      row: "P36",
      what: `${name} is answered by the wildcard, with its own name as owner`,
      query: { name },
      expect: holds(0, [`${name} A 192.0.2.62`], []),
    }),
  ),
  {
    row: "P36",
    what: "an alias that is a wildcard stands for the name asked for",
    query: { name: `x.wild-alias.${Z}` },
    expect: holds(0, [`x.wild-alias.${Z} CNAME host.${Z}`, `host.${Z} A 192.0.2.61`], []),
  },
  {
    row: "P37",
    what: "a type that the wildcard lacks is NODATA",
    query: { name: `x.wild.${Z}`, type: AAAA },
    expect: isNodata,
  },
  {
    row: "P38",
    what: "a name that is there is not the wildcard's",
    query: { name: `there.wild.${Z}` },
    expect: isNodata,
  },
  { row: "P38", what: "nor is a name below it", query: { name: `x.there.wild.${Z}` }, expect: isNxdomain },
  { row: "P38", what: "nor an empty non-terminal", query: { name: `ent.wild.${Z}` }, expect: isNodata },
  { row: "P38", what: "nor a name below that", query: { name: `x.ent.wild.${Z}` }, expect: isNxdomain },
  { row: "P38", what: "nor the wildcard's parent", query: { name: `wild.${Z}` }, expect: isNodata },
  {
    row: "P38",
    what: "nor a name below the asterisk (RFC 4592 §2.2.1)",
    query: { name: `x.*.wild.${Z}` },
    expect: isNxdomain,
  },
  {
    row: "P38",
    what: "a neighbour of the wildcard's parent is not there",
    query: { name: `xwild.${Z}` },
    expect: isNxdomain,
  },
];
