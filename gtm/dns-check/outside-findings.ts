/** Name servers outside the zone: whether the world finds them, and where the configuration says they are. */

import { type Finding, problem, unknown } from "#gtm/doctor/finding.ts";
import type { NameServer } from "#gtm/domain/zone.ts";
import { addressesOf } from "./delegation-records.ts";
import type { Found, NameResolver } from "./resolver.ts";
import { difference } from "./sayings.ts";

export type OutsideServer = {
  readonly server: NameServer;
  readonly found: Awaited<ReturnType<NameResolver["addresses"]>>;
};

export const outsideFindings = (outside: readonly OutsideServer[]): readonly Finding[] => outside.flatMap(findingsOf);

const findingsOf = ({ server, found }: OutsideServer): readonly Finding[] => {
  const { name } = server;
  if (found.kind === "unknown") return [unknown("ns-outside", `Where ${name} is, is not known: ${found.why}.`)];
  if (found.kind === "none") {
    const remedy = `Add ${lineFor(server)} to the zone that ${name} is in.`;
    return [problem("ns-unresolved", `The name server ${name} is outside the zone, and has no address there.`, remedy)];
  }
  const { alias } = found.value;
  if (alias !== null) {
    const remedy = `Give ${name} addresses instead of the alias: NS must not name one (RFC 2181 §10.3).`;
    return [problem("ns-alias", `The name server ${name} is an alias of ${alias}.`, remedy)];
  }
  return (["A", "AAAA"] as const).flatMap((type) => differing(server, type, found));
};

const lineFor = (server: NameServer): string => {
  const [type, address] = server.ipv4[0] === undefined ? ["AAAA", server.ipv6[0]] : ["A", server.ipv4[0]];
  return address === undefined ? "an A record" : `${server.name}. IN ${type} ${address}`;
};

type Addresses = { readonly A: readonly string[]; readonly AAAA: readonly string[] };

/** Without addresses in the configuration nothing is compared: it need not say any. */
const differing = (server: NameServer, type: keyof Addresses, found: Found<Addresses>): readonly Finding[] => {
  const wanted = addressesOf(server, type);
  const given = found.kind === "found" ? found.value[type] : [];
  const { missing, extra } = difference(wanted, given);
  if (wanted.length === 0 || missing.length + extra.length === 0) return [];
  const what = `${server.name} has ${given.join(", ") || "nothing"} as ${type} in its own zone, dns.ns says ${wanted.join(", ")}.`;
  const remedy = `Set ${type.toLowerCase()}: [${given.join(", ")}] for ${server.name} in dns.ns, or change it in its zone.`;
  return [problem("ns-address-differs", what, remedy)];
};
