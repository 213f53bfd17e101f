/** Whether the name servers of the zone say the same, and what the configuration says. */

import { type Finding, listed, ok, problem } from "#gtm/doctor/finding.ts";
import type { Zone } from "#gtm/domain/zone.ts";
import type { Asked } from "./ask.ts";
import { addressesOf } from "./delegation-records.ts";
import type { ReplyRecord } from "./message.ts";
import { difference, type Saying, together } from "./sayings.ts";
import { serverText } from "./server-address.ts";
import type { ServerAsked } from "./server-examination.ts";

type Described = Pick<Zone, "name" | "ns" | "soa">;

export const agreementFindings = (zone: Described, servers: readonly ServerAsked[]): readonly Finding[] => {
  const able = servers.filter(({ udp }) => udp.kind === "answered" && udp.reply.isAuthoritative);
  const findings = [
    ...differing("soa-differs", "SOA", able, ({ udp }) => soaText(zone, udp)),
    ...differing("ns-ttl-differs", "TTL of NS", able, ({ ns }) => ttlText(zone, ns)),
    ...together(able.flatMap((server) => sayingsOf(zone, server))),
  ];
  if (findings.length > 0 || able.length < 2) return findings;
  return [
    ok(
      "servers-agree",
      `${able.length} addresses answer the same SOA (serial ${zone.soa.serial}), NS and addresses of name servers.`,
    ),
  ];
};

/** Side by side, where there is more than one. */
const differing = (
  id: string,
  what: string,
  servers: readonly ServerAsked[],
  of: (server: ServerAsked) => string | null,
): readonly Finding[] => {
  const said = Map.groupBy(
    servers.filter((server) => of(server) !== null),
    of,
  );
  if (said.size < 2) return [];
  const sides = [...said].map(([text, same]) => `${listed(same.map(({ server }) => serverText(server)))}: ${text}`);
  const remedy = `Give every GTM the same dns section, and restart those that run with an older one; compare with: gtm check --config FILE.`;
  return [problem(id, `The name servers differ in ${what}: ${sides.join("; ")}.`, remedy)];
};

const answersOf = (asked: Asked, type: string, name: string): readonly ReplyRecord[] =>
  asked.kind === "answered" ? asked.reply.answers.filter((one) => one.type === type && one.name === name) : [];

const soaText = ({ name }: Described, asked: Asked): string | null => {
  const [soa] = answersOf(asked, "SOA", name);
  return soa === undefined ? null : `${soa.data}, TTL ${soa.ttlSeconds} s`;
};

const ttlText = ({ name }: Described, asked: Asked): string | null => {
  const ttls = [...new Set(answersOf(asked, "NS", name).map(({ ttlSeconds }) => ttlSeconds))];
  return ttls.length === 0 ? null : `${ttls.join(" and ")} s`;
};

const sayingsOf = (zone: Described, asked: ServerAsked): readonly Saying[] => {
  const server = serverText(asked.server);
  return [
    ...serialSayings(zone, asked, server),
    ...setSayings(zone, asked, server),
    ...addressSayings(zone, asked, server),
  ];
};

const serialSayings = (zone: Described, { udp }: ServerAsked, server: string): readonly Saying[] => {
  const serial = answersOf(udp, "SOA", zone.name)[0]?.data.split(" ")[2];
  if (serial === undefined || serial === String(zone.soa.serial)) return [];
  const what = `A name server has the serial ${serial}, the configuration ${zone.soa.serial}`;
  const remedy = `Set dns.soa.serial: ${zone.soa.serial} there and restart that GTM, or ${serial} here.`;
  return [{ server, id: "serial-differs", severity: "problem", what, remedy }];
};

const setSayings = (zone: Described, { ns }: ServerAsked, server: string): readonly Saying[] => {
  if (ns.kind === "failed") return [];
  const found = answersOf(ns, "NS", zone.name).map(({ data }) => data);
  const { missing, extra } = difference(
    zone.ns.map(({ name }) => name),
    found,
  );
  if (missing.length + extra.length === 0) return [];
  const words = [...missing.map((name) => `lacks ${name}`), ...extra.map((name) => `has ${name} besides`)];
  const remedy = "Make dns.ns the same there and here: resolvers believe the zone's own servers more than the parent.";
  const what = `The NS of a name server are others than dns.ns: it ${words.join(" and ")}`;
  return [{ server, id: "ns-differs", severity: "problem", what, remedy }];
};

const addressSayings = (zone: Described, { own }: ServerAsked, server: string): readonly Saying[] =>
  zone.ns.flatMap((one) => {
    const asked = own.get(one.name);
    if (asked === undefined) return [];
    const alias = answersOf(asked.A, "CNAME", one.name)[0] ?? answersOf(asked.AAAA, "CNAME", one.name)[0];
    if (alias !== undefined) {
      const what = `The name server ${one.name} is an alias of ${alias.data}`;
      const remedy = `Give ${one.name} addresses of its own (a: and aaaa: in dns.ns): NS must not name an alias (RFC 2181 §10.3).`;
      return [{ server, id: "ns-alias", severity: "problem", what, remedy }];
    }
    return (["A", "AAAA"] as const).flatMap((type): readonly Saying[] => {
      if (asked[type].kind === "failed") return [];
      const wanted = addressesOf(one, type);
      const found = answersOf(asked[type], type, one.name).map(({ data }) => data);
      const { missing, extra } = difference(wanted, found);
      if (missing.length + extra.length === 0) return [];
      const what = `A name server answers ${type} of ${one.name} with ${found.toSorted().join(", ") || "nothing"}, the glue and dns.ns say ${wanted.join(", ") || "nothing"}`;
      const remedy = `Set ${type.toLowerCase()}: [${wanted.join(", ")}] for ${one.name} in dns.ns there, or change it here and at the parent.`;
      return [{ server, id: "ns-address-differs", severity: "problem", what, remedy }];
    });
  });
