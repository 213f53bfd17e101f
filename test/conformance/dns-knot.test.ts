/** The owner's records, asked of this server and of Knot DNS with the same zone: both must say the same. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordValue } from "#gtm/domain/zone-record.ts";
import { askTcp } from "#test/support/dns-client.ts";
import { RECORDS } from "#test/support/dns-records.ts";
import { type RunningDns, startDns, ZONE } from "#test/support/dns-zone.ts";
import { type Knot, startKnot } from "#test/support/knot.ts";
import { A, AAAA, CAA, CNAME, DS, flagsOf, MX, NS, SOA, SRV, sectionOf, TXT } from "./dns/row.ts";

const Z = ZONE.name;
/** What depends on names that the GTM makes, and Knot has not. */
const isOwn = (name: string): boolean => [`chat.${Z}`, `front.${Z}`].includes(name) || name.endsWith(`.c.${Z}`);
const records = RECORDS.filter(({ name, value }) => !isOwn(name) && !(value.type === "CNAME" && isOwn(value.target)));

const quoted = (text: string): string => `"${text.replaceAll(/["\\;]/g, "\\$&")}"`;
const inPieces = (text: string): string => (text.match(/.{1,255}/g) ?? [""]).map(quoted).join(" ");
const dot = (name: string): string => (name === "." ? name : `${name}.`);
const dataText = (value: RecordValue): string => {
  switch (value.type) {
    case "A":
    case "AAAA":
      return value.address;
    case "CNAME":
      return dot(value.target);
    case "TXT":
      return value.texts.map(inPieces).join(" ");
    case "MX":
      return `${value.preference} ${dot(value.exchange)}`;
    case "CAA":
      return `${value.flags} ${value.tag} ${quoted(value.value)}`;
    case "SRV":
      return `${value.priority} ${value.weight} ${value.port} ${dot(value.target)}`;
    case "NS":
      return dot(value.host);
  }
};

const { soa, ns } = ZONE;
const soaNumbers = [soa.serial, soa.refreshSeconds, soa.retrySeconds, soa.expireSeconds, soa.minimumSeconds].join(" ");
const zoneFile = [
  `${Z}. 3600 IN SOA ${ns[0]?.name}. ${soa.rname}. ${soaNumbers}`,
  ...ns.flatMap(({ name, ipv4, ipv6 }) => [
    `${Z}. 3600 IN NS ${name}.`,
    ...ipv4.map((address) => `${name}. 3600 IN A ${address}`),
    ...ipv6.map((address) => `${name}. 3600 IN AAAA ${address}`),
  ]),
  ...records.map(({ name, ttlSeconds, value }) => `${name}. ${ttlSeconds} IN ${value.type} ${dataText(value)}`),
  "",
].join("\n");

const NAMES = [
  ...new Set(records.map(({ name }) => name)),
  ...["www.sub", "a.b.sub", "x.wild", "a.b.wild", "x.there.wild", "ent.wild", "x.ent.wild", "wild", "x.*.wild"],
  ...["x.wild-alias", "wild-alias", "tree", "ent.tree", "x.tree", "nope", "x.host", "x.alias", "_tcp", "x._tcp"],
].map((name) => (name.endsWith(Z) ? name : `${name}.${Z}`));
const TYPES = [A, AAAA, CNAME, TXT, MX, NS, SOA, SRV, CAA, DS, 65_280];

/** Order means nothing within a section, but a chain of aliases. */
const ask = async (peer: Knot | RunningDns, name: string, type: number) => {
  const reply = await askTcp(peer, { name, type, opt: {} });
  const { answers, authorities, additionals } = reply.packet;
  const ttls = [...(answers ?? []), ...(authorities ?? [])].map((one) => ("ttl" in one ? one.ttl : null));
  return {
    rcode: reply.rcode,
    aa: flagsOf(reply).aa,
    answer: sectionOf(answers).toSorted(),
    authority: sectionOf(authorities).toSorted(),
    additional: sectionOf(additionals).toSorted(),
    ttls: ttls.toSorted(),
  };
};

describe("the owner's records", () => {
  let dns: RunningDns;
  let knot: Knot;
  before(async () => {
    dns = await startDns();
    knot = await startKnot(Z, zoneFile);
  });
  after(async () => {
    await dns[Symbol.asyncDispose]();
    await knot[Symbol.asyncDispose]();
  });

  for (const name of NAMES) {
    it(`are what Knot makes of them: ${name}, ${TYPES.length} types`, async () => {
      for (const type of TYPES)
        assert.deepEqual(await ask(dns, name, type), await ask(knot, name, type), `type ${type}`);
    });
  }
});
