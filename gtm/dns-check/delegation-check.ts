/** Follows the delegation of the zone from the parent's servers down to each name server, and says what is wrong on the way. */

import type { Examined } from "#gtm/doctor/examine.ts";
import { type Finding, problem, worstFirst } from "#gtm/doctor/finding.ts";
import { isInZone, type NameServer, type Zone } from "#gtm/domain/zone.ts";
import { agreementFindings } from "./agreement-findings.ts";
import type { Ask } from "./ask.ts";
import { addressesOf } from "./delegation-records.ts";
import { type OutsideServer, outsideFindings } from "./outside-findings.ts";
import { type ParentAsked, parentFindings, referralIn } from "./parent-findings.ts";
import { findParentServers } from "./parent-servers.ts";
import type { NameResolver } from "./resolver.ts";
import { canonicalAddress, type ServerAddress } from "./server-address.ts";
import { examineServer, type ServerAsked } from "./server-examination.ts";
import { serverFindings } from "./server-findings.ts";

export type DelegationWish = {
  readonly zone: Zone;
  /** A name of the zone that is answered by steering, in full. */
  readonly steeredName: string;
  /** null: to be found. */
  readonly parents: readonly ServerAddress[] | null;
  /** Of the zone's own servers; others than 53 are for labs. */
  readonly port: number;
};

/** Neither rejects. */
export type DelegationPorts = { readonly ask: Ask; readonly resolver: NameResolver };

export const checkDelegation = async (wish: DelegationWish, ports: DelegationPorts): Promise<readonly Examined[]> => {
  const { zone } = wish;
  const [parent, outside] = await Promise.all([askParents(wish, ports), findOutside(zone, ports.resolver)]);
  const servers = await Promise.all(
    [...serversOf(wish, parent.asked, outside)].map(([address, names]) =>
      examineServer(
        ports.ask,
        { server: { address, port: wish.port }, names: [...names] },
        {
          ...{ zone, steeredName: wish.steeredName },
          insideNames: zone.ns.map(({ name }) => name).filter((name) => isInZone(name, zone.name)),
        },
      ),
    ),
  );
  return [
    examined("parent zone", parent.findings),
    examined("name servers", [...outsideFindings(outside), ...serverFindings(zone, servers)]),
    examined("agreement", agreementFindings(zone, servers)),
  ];
};

const examined = (subject: string, findings: readonly Finding[]): Examined => ({
  subject,
  findings: worstFirst(findings),
});

type Parent = { readonly asked: readonly ParentAsked[]; readonly findings: readonly Finding[] };

const askParents = async ({ zone, parents }: DelegationWish, { ask, resolver }: DelegationPorts): Promise<Parent> => {
  const found = parents === null ? await findParentServers(zone.name, resolver) : null;
  if (found?.kind === "unknown") {
    const what = `The servers of the parent zone were not found: ${found.why}.`;
    return { asked: [], findings: [problem("parent-unknown", what, "Name them: --parent ADDRESS.")] };
  }
  const asked = await Promise.all((parents ?? found?.servers ?? []).map((server) => askParent(zone.name, server, ask)));
  return { asked, findings: parentFindings(zone, asked) };
};

const askParent = async (zone: string, server: ServerAddress, ask: Ask): Promise<ParentAsked> => {
  const query = { name: zone, type: "NS", opt: null } as const;
  const udp = await ask(server, query, "udp");
  const isCut = udp.kind === "answered" && udp.reply.isTruncated;
  return { server, udp, whole: isCut ? await ask(server, query, "tcp") : udp };
};

const findOutside = (zone: Zone, resolver: NameResolver): Promise<readonly OutsideServer[]> =>
  Promise.all(
    zone.ns
      .filter(({ name }) => !isInZone(name, zone.name))
      .map(async (server) => ({ server, found: await resolver.addresses(server.name) })),
  );

/** Where resolvers would ask, and where the configuration says they should. */
const serversOf = (
  { zone }: DelegationWish,
  parents: readonly ParentAsked[],
  outside: readonly OutsideServer[],
): ReadonlyMap<ServerAsked["server"]["address"], ReadonlySet<string>> => {
  const glue = parents.flatMap(({ whole }) =>
    whole.kind === "answered" ? (referralIn(whole.reply, zone.name)?.glue ?? []) : [],
  );
  const names = new Map<string, Set<string>>();
  const add = (address: string, name: string): void => {
    names.set(address, (names.get(address) ?? new Set()).add(name));
  };
  for (const server of zone.ns) {
    for (const address of configured(server)) add(address, server.name);
    for (const one of glue) if (one.name === server.name) add(canonicalAddress(one.data), server.name);
  }
  for (const { server, found } of outside) {
    if (found.kind === "found") for (const one of [...found.value.A, ...found.value.AAAA]) add(one, server.name);
  }
  return names;
};

const configured = (server: NameServer): readonly string[] => [
  ...addressesOf(server, "A"),
  ...addressesOf(server, "AAAA"),
];
