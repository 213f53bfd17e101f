/** Records of every kind that a zone's owner may keep, for the zone of the DNS tests. */
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";

const Z = "gslb.example.org";

/** @param label below the zone; empty for the zone itself */
const record = (label: string, value: RecordValue, ttlSeconds = 300): ZoneRecord => ({
  name: label === "" ? Z : `${label}.${Z}`,
  ttlSeconds,
  value,
});
const a = (label: string, address: string): ZoneRecord => record(label, { type: "A", address });
const alias = (label: string, target: string): ZoneRecord => record(label, { type: "CNAME", target });
const text = (label: string, ...texts: readonly string[]): ZoneRecord => record(label, { type: "TXT", texts });

/** One text of 600 octets: three strings on the wire. */
export const LONG_TEXT = "abcdefghij".repeat(60);

export const RECORDS: readonly ZoneRecord[] = [
  a("host", "192.0.2.61"),
  text("host", "first string", "second string"),
  // Beside what the GTM answers itself.
  text("", "v=spf1 -all"),
  record("", { type: "CAA", flags: 0, tag: "issue", value: "ca.example.net" }),
  record("", { type: "CAA", flags: 128, tag: "issuewild", value: ";" }),
  text("chat", "beside a pool's addresses"),
  text("_acme-challenge.c", "a challenge"),
  // Aliases.
  alias("alias", `host.${Z}`),
  alias("chain", `alias.${Z}`),
  alias("away", "www.example.net"),
  alias("gone", `missing.${Z}`),
  alias("steered", `chat.${Z}`),
  alias("talk", `abc.c.${Z}`),
  alias("front-alias", `front.${Z}`),
  alias("to-wild", `x.wild.${Z}`),
  alias("to-sub", `www.sub.${Z}`),
  // Wildcards: names that exist, and names that exist for others, are not theirs.
  a("*.wild", "192.0.2.62"),
  text("*.wild", "wild"),
  text("there.wild", "exists"),
  a("a.ent.wild", "192.0.2.63"),
  alias("*.wild-alias", `host.${Z}`),
  // ent.tree and tree exist for it.
  a("a.ent.tree", "192.0.2.64"),
  // Mail and services.
  record("mail", { type: "MX", preference: 10, exchange: `host.${Z}` }),
  record("mail", { type: "MX", preference: 20, exchange: "mx.example.net" }),
  record("no-mail", { type: "MX", preference: 0, exchange: "." }),
  record("_sip._tcp", { type: "SRV", priority: 1, weight: 2, port: 5_060, target: `host.${Z}` }),
  // Given to other servers, one of which can only be found by its glue.
  record("sub", { type: "NS", host: `ns1.sub.${Z}` }),
  record("sub", { type: "NS", host: "ns.example.net" }),
  a("ns1.sub", "198.51.100.53"),
  record("ns1.sub", { type: "AAAA", address: "2001:db8::53" }),
  // Too long for a datagram, one of them only without EDNS.
  text("long", LONG_TEXT),
  ...["one", "two", "three"].map((word) => text("longer", `${word} ${LONG_TEXT}`)),
];
