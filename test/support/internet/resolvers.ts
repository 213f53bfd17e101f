/** Resolvers as people run them, told of another root, each on a host of a closed network. */
import { type Daemon, digWords, startDaemon } from "./daemon.ts";
import { NAMED, type NamedServer, namedOptions, rootHints } from "./name-servers.ts";
import type { Host } from "./network.ts";

export type ResolverWish = {
  readonly host: Host;
  readonly roots: readonly NamedServer[];
};

const ready = ({ addresses }: Host) => ({ ask: digWords(addresses[0] ?? "", ".", "NS"), says: /status: NOERROR/ });

/** What every resolver refuses by itself is documentation's; here it is the whole world. */
const EVERYBODY = ["0.0.0.0/0", "::/0"];

/** @param subnetTo whom it tells the client's subnet */
export const startUnbound = ({
  host,
  roots,
  subnetTo,
}: ResolverWish & { readonly subnetTo: readonly string[] }): Promise<Daemon> =>
  startDaemon({
    host,
    files: {
      hints: rootHints(roots),
      "unbound.conf": [
        "server:",
        ...host.addresses.map((one) => `  interface: ${one}`),
        ...EVERYBODY.map((one) => `  access-control: ${one} allow`),
        '  directory: "FOLDER"',
        '  username: ""',
        '  chroot: ""',
        '  pidfile: ""',
        "  use-syslog: no",
        "  num-threads: 1",
        '  root-hints: "FOLDER/hints"',
        '  module-config: "subnetcache validator iterator"',
        ...subnetTo.map((one) => `  send-client-subnet: ${one}`),
        "  qname-minimisation: yes",
        "  qname-minimisation-strict: yes",
        "  use-caps-for-id: yes",
        // Else it answers names of documentation itself.
        "  unblock-lan-zones: yes",
        "  insecure-lan-zones: yes",
        ...["example.", "test."].map((zone) => `  local-zone: ${zone} nodefault`),
        "remote-control:",
        "  control-enable: no",
        "",
      ].join("\n"),
    },
    command: ["/usr/sbin/unbound", "-d", "-d", "-c", "FOLDER/unbound.conf"],
    ready: ready(host),
  });

export const startNamedResolver = ({ host, roots }: ResolverWish): Promise<Daemon> =>
  startDaemon({
    host,
    files: {
      hints: rootHints(roots),
      "named.conf": `${namedOptions(host)} recursion yes; allow-recursion { any; }; allow-query { any; };
  qname-minimization strict; empty-zones-enable no; };
zone "." { type hint; file "FOLDER/hints"; };
`,
    },
    command: NAMED,
    ready: ready(host),
  });

/** @see https://knot-resolver.readthedocs.io, the configuration is Lua */
export const startKnotResolver = ({ host, roots }: ResolverWish): Promise<Daemon> =>
  startDaemon({
    host,
    files: {
      "kresd.conf": [
        ...host.addresses.map((one) => `net.listen('${one}', 53, { kind = 'dns' })`),
        "modules.unload('ta_sentinel')",
        "modules.unload('ta_signal_query')",
        "modules.unload('ta_update')",
        "modules.unload('priming')",
        "modules.unload('detect_time_skew')",
        "trust_anchors.remove('.')",
        "modules.load('hints')",
        "cache.size = 10 * MB",
        `hints.root({ ${roots.map(({ name, addresses }) => `['${name}.'] = { ${addresses.map((one) => `'${one}'`).join(", ")} }`).join(", ")} })`,
        "",
      ].join("\n"),
    },
    command: ["/usr/sbin/kresd", "-n", "-c", "FOLDER/kresd.conf", "FOLDER"],
    ready: ready(host),
  });
