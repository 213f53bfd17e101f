/** A small internet: a root, a parent zone, two GTMs on one Redis that serve what the parent delegates, two regions, and who asks. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SIMULATED_ALIAS, SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type Daemon, digWords, startDaemon } from "./daemon.ts";
import { delegationLines, startParentOnBind, startRootOnKnot } from "./name-servers.ts";
import { type Host, makeNetwork, type Network } from "./network.ts";
import { ENGINE_PORT, startRegionProcess } from "./region-process.ts";

export const ZONE = "llm.example";
export const PARENT = "example.";

/** Each in a network of its own, as name servers should be. */
const HOSTS = {
  root: ["203.0.113.1", "2001:db8:f::1"],
  parent: ["203.0.113.2", "198.51.100.2", "2001:db8:e::2", "2001:db8:d::2"],
  ns1: ["192.0.2.53", "2001:db8:a::53"],
  ns2: ["198.51.100.53", "2001:db8:b::53"],
  redis: ["203.0.113.6"],
  "eu-central": ["192.0.2.10", "2001:db8:10::10"],
  "us-east": ["198.51.100.10", "2001:db8:20::10"],
  unbound: ["203.0.113.100", "2001:db8:c::100"],
  named: ["203.0.113.101", "2001:db8:c::101"],
  kresd: ["203.0.113.102", "2001:db8:c::102"],
  asker: [
    "203.0.113.200",
    "192.0.2.200",
    "192.0.2.201",
    "198.51.100.200",
    "2001:db8:4001::1",
    "2001:db8:4002::1",
    "2001:db8:5001::1",
  ],
} as const;
export type HostName = keyof typeof HOSTS;
export type GtmName = "ns1" | "ns2";
export type RegionName = "eu-central" | "us-east";

export const ROOTS = [{ name: "a.root-servers", addresses: HOSTS.root }];
const PARENTS = [
  { name: "ns1.example", addresses: [HOSTS.parent[0], HOSTS.parent[2]] },
  { name: "ns2.example", addresses: [HOSTS.parent[1], HOSTS.parent[3]] },
];
export const addressesOf = (name: HostName): readonly string[] => HOSTS[name];
export const parentAddresses: readonly string[] = HOSTS.parent;
export const gtmAddresses: readonly string[] = [...HOSTS.ns1, ...HOSTS.ns2];

const PLACES = {
  "eu-central": { lat: 50.11, lon: 8.68, clients: ["192.0.2.0/24", "2001:db8:4000::/36"] },
  "us-east": { lat: 38.95, lon: -77.45, clients: ["198.51.100.0/24", "2001:db8:5000::/36"] },
} as const;
const REGIONS = ["eu-central", "us-east"] as const;

/** What the owner of the zone keeps in it. */
const RECORDS = [
  { name: ZONE, type: "CAA", tag: "issue", value: "letsencrypt.org" },
  { name: ZONE, type: "TXT", texts: ["v=spf1 -all"] },
  { name: `docs.${ZONE}`, type: "CNAME", target: `status.${ZONE}` },
  { name: `status.${ZONE}`, type: "A", address: "203.0.113.80" },
  { name: `*.preview.${ZONE}`, type: "AAAA", address: "2001:db8:80::80" },
  { name: ZONE, type: "MX", preference: 10, exchange: `status.${ZONE}` },
  { name: `_sip._tcp.${ZONE}`, type: "SRV", priority: 10, weight: 5, port: 5_060, target: `status.${ZONE}` },
  { name: `lab.${ZONE}`, type: "NS", host: `ns1.lab.${ZONE}` },
  { name: `ns1.lab.${ZONE}`, type: "A", address: "203.0.113.90" },
  // More than fits into a datagram of 1 232 octets.
  { name: `long.${ZONE}`, type: "TXT", texts: Array.from({ length: 6 }, (_, at) => `${at}`.repeat(250)) },
];

const settingsOf = (name: GtmName, keys: string): object => ({
  version: 1,
  instance: name,
  store: { url: `redis://${HOSTS.redis[0]}:6379` },
  keys: {
    identity_file: join(keys, "identity.key"),
    signing_file: join(keys, "signing.keys"),
    cookie_file: join(keys, "cookie.keys"),
  },
  dns: {
    listen: HOSTS[name].map((one) => (one.includes(":") ? `[${one}]:53` : `${one}:53`)),
    zone: ZONE,
    ns: (["ns1", "ns2"] as const).map((one) => ({ name: `${one}.${ZONE}`, a: [HOSTS[one][0]], aaaa: [HOSTS[one][1]] })),
    soa: { rname: `hostmaster.${ZONE}`, serial: 7 },
    default_pool: "chat",
    apex_addresses: true,
    nsid: name,
    records: RECORDS,
  },
  http: { listen: `${HOSTS[name][0]}:8080`, addresses: [HOSTS.ns1[0], HOSTS.ns2[0]], default_pool: "chat" },
  admin: { listen: "127.0.0.1:9443" },
  metrics: { listen: "127.0.0.1:9153" },
  regions: REGIONS.map((id) => ({
    id,
    location: { lat: PLACES[id].lat, lon: PLACES[id].lon },
    endpoint: {
      url: `https://${id}.r.${ZONE}:8443`,
      a: [HOSTS[id][0]],
      aaaa: [HOSTS[id][1]],
      alpn: ["h2", "http/1.1"],
    },
    probe: { url: `http://${HOSTS[id][0]}:${ENGINE_PORT}/health`, interval: "500ms", timeout: "400ms" },
    affinity: true,
  })),
  models: [{ id: SIMULATED_MODEL, aliases: [SIMULATED_ALIAS] }],
  pools: [{ name: "chat", models: [SIMULATED_MODEL], regions: REGIONS }],
  geo: {
    provider: "static",
    static: REGIONS.flatMap((id) =>
      PLACES[id].clients.map((cidr, at) => ({ cidr, lat: PLACES[id].lat, lon: PLACES[id].lon, name: `${id}-${at}` })),
    ),
  },
});

export type DelegatedZone = AsyncDisposable & {
  readonly host: (name: HostName) => Host;
  /** Where the configuration of ns1 lies. */
  readonly config: string;
  /** For what must lie beside it. */
  readonly folder: string;
  readonly dig: (server: string, ...words: readonly string[]) => Promise<string>;
  /** The sum of a counter's series that have these labels, of one GTM or of both. */
  readonly counted: (name: string, labels?: readonly string[], gtms?: readonly GtmName[]) => Promise<number>;
  readonly signalGtms: (signal: "SIGSTOP" | "SIGCONT") => void;
  /** As by a power cut. */
  readonly killGtm: (name: GtmName) => Promise<void>;
  readonly startGtm: (name: GtmName) => Promise<void>;
  readonly killRegion: (name: RegionName) => Promise<void>;
};

/** @returns once both GTMs have heard both regions */
export const startDelegatedZone = async (): Promise<DelegatedZone> => {
  await using stack = new AsyncDisposableStack();
  const network: Network<HostName> = stack.use(await makeNetwork<HostName>(HOSTS, HOSTS.unbound[0]));
  const host = (name: HostName): Host => network.host(name);
  const folder = mkdtempSync(join(tmpdir(), "gtm-internet-"));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const keys = join(folder, "keys");
  assert.equal((await runCli(["keys", "init", "--dir", keys])).exitCode, 0);
  const config = join(folder, "gtm.yaml");
  writeFileSync(config, JSON.stringify(settingsOf("ns1", keys)));

  const gtms = new Map<GtmName, RunningProgram>();
  const regions = new Map<RegionName, Daemon>();
  stack.defer(async () => {
    await Promise.all([...gtms.values(), ...regions.values()].map((one) => one[Symbol.asyncDispose]()));
  });
  const storeUrl = `redis://${HOSTS.redis[0]}:6379`;
  const startGtm = async (name: GtmName): Promise<void> => {
    gtms.set(name, await startProgram("gtm/main.ts", "serve", settingsOf(name, keys), { within: host(name) }));
  };
  const startRegion = async (name: RegionName): Promise<void> => {
    regions.set(name, await startRegionProcess(host(name), name, storeUrl));
  };
  const page = async (name: GtmName): Promise<readonly string[]> => {
    const { stdout } = await host(name).run(["curl", "-s", "-m", "5", "http://127.0.0.1:9153/metrics"]);
    return stdout.split("\n");
  };
  const counted: DelegatedZone["counted"] = async (name, labels = [], which = ["ns1", "ns2"]) => {
    const pages = await Promise.all(which.map(page));
    return pages
      .flat()
      .filter((line) => line.startsWith(`${name}{`) && labels.every((one) => line.includes(one)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  };
  const dig: DelegatedZone["dig"] = async (server, ...words) =>
    (await host("asker").run(["dig", `@${server}`, "+tries=2", "+time=5", ...words])).stdout;

  stack.use(
    await startDaemon({
      host: host("redis"),
      files: {},
      command: ["redis-server", "--bind", HOSTS.redis[0], "--protected-mode", "no", "--save", "", "--dir", "FOLDER"],
      ready: { ask: ["redis-cli", "-h", HOSTS.redis[0], "ping"], says: /PONG/ },
    }),
  );
  const printed = await runCli(["zones", "delegation", "--config", config, "--form", "bind"]);
  assert.equal(printed.exitCode, 0, printed.err);
  const servers = [
    startRootOnKnot(host("root"), ROOTS, delegationLines(PARENT, PARENTS)),
    startParentOnBind(host("parent"), PARENT, PARENTS, printed.out.trimEnd().split("\n")),
  ];
  for (const server of servers) stack.use(await server);
  await Promise.all([startGtm("ns1"), startGtm("ns2"), ...REGIONS.map(startRegion)]);
  const isSteering = async (): Promise<boolean> => {
    const answers = await Promise.all(
      [HOSTS.ns1[0], HOSTS.ns2[0]].flatMap((server) =>
        REGIONS.map(async (region) => {
          const subnet = `+subnet=${PLACES[region].clients[0]}`;
          const { stdout } = await host("asker").run(digWords(server, "+short", subnet, `chat.${ZONE}`));
          return stdout.trim() === HOSTS[region][0];
        }),
      ),
    );
    return answers.every(Boolean);
  };
  await until(isSteering, "both GTMs sending each client to the region beside it");

  const kill = async <N>(map: Map<N, AsyncDisposable>, name: N): Promise<void> => {
    await map.get(name)?.[Symbol.asyncDispose]();
    map.delete(name);
  };
  const all = stack.move();
  return {
    ...{ host, config, folder, dig, counted, startGtm },
    signalGtms: (signal) => {
      for (const { pid } of gtms.values()) process.kill(pid, signal);
    },
    killGtm: (name) => kill(gtms, name),
    killRegion: (name) => kill(regions, name),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
