/** A root zone on Knot and a parent zone on BIND, each on hosts of a closed network. */
import { type Daemon, digWords, startDaemon } from "./daemon.ts";
import type { Host } from "./network.ts";

export type NamedServer = { readonly name: string; readonly addresses: readonly string[] };

const TTL = 86_400;

/** NS of a zone, and the addresses of its servers. */
export const delegationLines = (zone: string, servers: readonly NamedServer[]): readonly string[] =>
  servers.flatMap(({ name, addresses }) => [
    `${zone} ${TTL} IN NS ${name}.`,
    ...addresses.map((one) => `${name}. ${TTL} IN ${one.includes(":") ? "AAAA" : "A"} ${one}`),
  ]);

const zoneText = (zone: string, servers: readonly NamedServer[], lines: readonly string[]): string =>
  [
    `${zone} ${TTL} IN SOA ${servers[0]?.name}. hostmaster.example. 1 14400 3600 604800 300`,
    ...new Set([...delegationLines(zone, servers), ...lines]),
    "",
  ].join("\n");

/** What resolvers are told of the root before they ask. */
export const rootHints = (servers: readonly NamedServer[]): string => `${delegationLines(".", servers).join("\n")}\n`;

/** @param lines what it delegates */
export const startRootOnKnot = (
  host: Host,
  servers: readonly NamedServer[],
  lines: readonly string[],
): Promise<Daemon> =>
  startDaemon({
    host,
    files: {
      "root.zone": zoneText(".", servers, lines),
      "knot.conf": [
        ...["server:", '  rundir: "FOLDER"', `  listen: [ ${host.addresses.map((one) => `${one}@53`).join(", ")} ]`],
        ...["database:", '  storage: "FOLDER"'],
        ...["zone:", "  - domain: .", '    file: "FOLDER/root.zone"', ""],
      ].join("\n"),
    },
    command: ["/usr/sbin/knotd", "--config", "FOLDER/knot.conf"],
    ready: { ask: digWords(host.addresses[0] ?? "", "+short", ".", "SOA"), says: /hostmaster/ },
  });

/** @param zone with its dot. @param lines what it delegates */
export const startParentOnBind = (
  host: Host,
  zone: string,
  servers: readonly NamedServer[],
  lines: readonly string[],
): Promise<Daemon> =>
  startDaemon({
    host,
    files: {
      "parent.zone": zoneText(zone, servers, lines),
      "named.conf": `${namedOptions(host)} recursion no; };
zone "${zone}" { type primary; file "FOLDER/parent.zone"; };
`,
    },
    command: NAMED,
    ready: { ask: digWords(host.addresses[0] ?? "", "+short", zone, "SOA"), says: /hostmaster/ },
  });

export const NAMED: readonly string[] = ["/usr/sbin/named", "-g", "-c", "FOLDER/named.conf", "-n", "1"];

/** Their end is the caller's. */
export const namedOptions = ({ addresses }: Host): string => {
  const of = (isSix: boolean): string =>
    addresses.flatMap((one) => (one.includes(":") === isSix ? [`${one};`] : [])).join(" ");
  return `controls {};
options {
  directory "FOLDER"; pid-file none; session-keyfile none; managed-keys-directory "FOLDER"; dnssec-validation no;
  listen-on { ${of(false)} }; listen-on-v6 { ${of(true)} };`;
};
