/** Other authoritative servers with the data of the DNS benchmark: configuration, version, and the program to start. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { searchPath } from "#test/prerequisites.ts";
import { ZONE } from "#test/support/dns-zone.ts";
import { CLIENT_NETWORKS } from "./dns-subject.ts";

export type Rival = {
  readonly name: string;
  readonly command: string;
  readonly aptPackages: readonly string[];
  readonly versionOf: () => string;
  /** Writes what the server reads. @returns the arguments it is started with */
  readonly prepare: (folder: string, port: number, data: RivalData) => readonly string[];
};

/** The labels' names with the address that each answers. */
export type RivalData = { readonly names: readonly (readonly [name: string, address: string])[] };

const POOL = `chat.${ZONE.name}`;
/** Frankfurt, which is also nearest for who is in Paris, Virginia, Singapore: as our steering answers them. */
const NEAREST = ["192.0.2.10", "192.0.2.10", "192.0.2.20", "192.0.2.30"];
const networks = Array.from({ length: CLIENT_NETWORKS }, (_, i) => ({
  cidr: `100.${i >>> 8}.${i & 0xff}.0/24`,
  address: NEAREST[(i % 1_000) % NEAREST.length] ?? "",
}));

const zoneText = ({ names }: RivalData, pool: readonly string[]): string =>
  [
    "$TTL 30",
    `@ SOA ns1 hostmaster 7 14400 3600 604800 30`,
    "@ NS ns1",
    "ns1 A 198.51.100.1",
    ...pool,
    ...names.map(([name, address]) => `${name}. A ${address}`),
    "",
  ].join("\n");

/** Whatever it thinks of being asked: some write their version beside a complaint. */
const said = (command: string, argument: string): string => {
  const { stdout, stderr } = spawnSync(command, [argument], {
    encoding: "utf8",
    env: { ...process.env, PATH: searchPath() },
  });
  return `${stdout}${stderr}`;
};
const versionIn = (text: string): string => /[0-9]+\.[0-9]+\.[0-9]+/.exec(text)?.[0] ?? "of an unknown version";

const gdnsd: Rival = {
  name: "gdnsd, plugin geoip",
  command: "gdnsd",
  aptPackages: ["gdnsd"],
  versionOf: () => versionIn(said("gdnsd", "-V")),
  prepare: (folder, port, data) => {
    mkdirSync(join(folder, "zones"));
    mkdirSync(join(folder, "run"));
    mkdirSync(join(folder, "state"));
    const order: Readonly<Record<string, string>> = {
      "192.0.2.10": "[ fra, vir, sin ]",
      "192.0.2.20": "[ vir, fra, sin ]",
      "192.0.2.30": "[ sin, fra, vir ]",
    };
    const nets = networks.map(({ cidr, address }) => `${cidr} => ${order[address]}`).join("\n");
    writeFileSync(
      join(folder, "config"),
      `options => { listen => 127.0.0.1:${port}, udp_threads => 1, tcp_threads => 1, run_dir => ${folder}/run, state_dir => ${folder}/state }
plugins => { geoip => {
  maps => { world => { datacenters => [ fra, vir, sin ], nets => { ${nets} } } },
  resources => { chat => { map => world, service_types => up, dcmap => { fra => 192.0.2.10, vir => 192.0.2.20, sin => 192.0.2.30 } } },
} }
`,
    );
    writeFileSync(join(folder, "zones", ZONE.name), zoneText(data, ["chat DYNA geoip!chat"]));
    return ["-c", folder, "start"];
  },
};

const knot: Rival = {
  name: "Knot DNS, mod-geoip",
  command: "knotd",
  aptPackages: ["knot", "knot-module-geoip"],
  versionOf: () => versionIn(said("knotd", "--version")),
  prepare: (folder, port, data) => {
    const nets = networks.flatMap(({ cidr, address }) => [`  - net: ${cidr}`, `    A: ${address}`]);
    writeFileSync(join(folder, "geo.conf"), [`${POOL}:`, ...nets, ""].join("\n"));
    writeFileSync(join(folder, "zone"), zoneText(data, ["chat A 192.0.2.10"]));
    const settings = [
      "server:",
      `  rundir: "${folder}"`,
      `  listen: 127.0.0.1@${port}`,
      "  udp-workers: 1",
      "  tcp-workers: 1",
      "  edns-client-subnet: on",
      "database:",
      `  storage: "${folder}"`,
      "mod-geoip:",
      "  - id: geo",
      `    config-file: "${folder}/geo.conf"`,
      "    ttl: 30",
      "    mode: subnet",
      "zone:",
      `  - domain: ${ZONE.name}`,
      `    file: "${folder}/zone"`,
      "    module: mod-geoip/geo",
      "",
    ];
    writeFileSync(join(folder, "knot.conf"), settings.join("\n"));
    return ["--config", join(folder, "knot.conf")];
  },
};

/** The same table by arithmetic, as a Lua record would rather not hold ten thousand networks. */
const LUA = [
  "local a, b, c = bestwho:toString():match('^%d+%.(%d+)%.(%d+)%.')",
  "local i = (tonumber(a or 0) * 256 + tonumber(b or 0)) % 1000 % 4",
  `return ({${NEAREST.map((address) => `'${address}'`).join(",")}})[i + 1]`,
].join(" ");

const powerdns: Rival = {
  name: "PowerDNS, Lua record",
  command: "pdns_server",
  aptPackages: ["pdns-server", "pdns-backend-bind"],
  versionOf: () => versionIn(said("pdns_server", "--version")),
  prepare: (folder, port, data) => {
    writeFileSync(join(folder, "zone"), zoneText(data, [`chat LUA A ";${LUA}"`]));
    writeFileSync(join(folder, "named.conf"), `zone "${ZONE.name}" { type master; file "${folder}/zone"; };\n`);
    const settings = [
      "launch=bind",
      `bind-config=${folder}/named.conf`,
      `local-address=127.0.0.1`,
      `local-port=${port}`,
      `socket-dir=${folder}`,
      "enable-lua-records=yes",
      "edns-subnet-processing=yes",
      "receiver-threads=1",
      "distributor-threads=1",
      "",
    ];
    writeFileSync(join(folder, "pdns.conf"), settings.join("\n"));
    return [`--config-dir=${folder}`, "--daemon=no", "--guardian=no", "--disable-syslog", "--write-pid=no"];
  },
};

export const RIVALS: readonly Rival[] = [gdnsd, knot, powerdns];
