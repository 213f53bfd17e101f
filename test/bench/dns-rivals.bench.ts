/**
 * Our DNS server beside a bare dgram echo, gdnsd, Knot DNS and PowerDNS, with equal data: a pool's name from ten thousand client
 * /24s and ten thousand labels in turn. One server at a time is asked, on a processor of its own; dnsperf is on another.
 */
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { searchPath } from "#test/prerequisites.ts";
import { REGIONS } from "#test/support/dns-zone.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";
import { type Bench, type BenchRow, median } from "./bench.ts";
import { askOnce, latenciesOf, probe } from "./dns-probe.ts";
import { RIVALS, type Rival, type RivalData } from "./dns-rival.ts";
import type { ServerKind, ServerReady } from "./dns-server.ts";
import { labelled, mixedQueries } from "./dns-subject.ts";
import { dnsperf, writePackets } from "./dnsperf.ts";
import { pin, processorUs } from "./process-time.ts";

const ROUNDS = 7;
const SECONDS = 2;
const UNDER_WAY = 64;
const PROBE_EVERY_MS = 2;
const SERVER_CPU = 0;
const LOAD_CPU = 1;

type Server = {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<void>;
  readonly perSecond: number[];
  readonly cpuUs: number[];
  readonly took: number[];
};

const stopping = (child: ChildProcess) => async (): Promise<void> => {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
};

const startOurs = async (name: string, kind: ServerKind): Promise<Server> => {
  const child = fork(join(import.meta.dirname, "dns-server.ts"), [kind]);
  const [{ port }] = (await once(child, "message")) as [ServerReady];
  return { name, pid: child.pid ?? 0, port, stop: stopping(child), perSecond: [], cpuUs: [], took: [] };
};

const startRival = async (rival: Rival, folder: string, data: RivalData): Promise<Server> => {
  mkdirSync(folder);
  const port = await freePort();
  const child = spawn(rival.command, [...rival.prepare(folder, port, data)], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, PATH: searchPath() },
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said = `${said}${text}`.slice(-2_000);
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${rival.command} ended with ${child.exitCode}: ${said}`);
    return answersAlike(port);
  }, `${rival.command} to answer`);
  const name = `${rival.name} ${rival.versionOf()}`;
  return { name, pid: child.pid ?? 0, port, stop: stopping(child), perSecond: [], cpuUs: [], took: [] };
};

const [POOL_QUERY, LABEL_QUERY] = mixedQueries();
const FRANKFURT = Buffer.from((REGIONS[0]?.endpoint.ipv4[0] ?? "").split(".").map(Number));

/** The first network's pool name and the first label: Frankfurt's address, as with us. */
const answersAlike = async (port: number): Promise<boolean> => {
  for (const query of [POOL_QUERY, LABEL_QUERY]) {
    const reply = await askOnce(port, query ?? Buffer.alloc(0));
    if (reply === null || !reply.includes(FRANKFURT)) return false;
  }
  return true;
};

const required = (): void => {
  const programs = [
    ...RIVALS.map(({ command, aptPackages }) => ({ command, aptPackages })),
    { command: "dnsperf", aptPackages: ["dnsperf"] },
    { command: "taskset", aptPackages: ["util-linux"] },
  ];
  const env = { ...process.env, PATH: searchPath() };
  const missing = programs.filter(({ command }) => spawnSync("which", [command], { env }).status !== 0);
  if (missing.length > 0) {
    const packages = missing.flatMap(({ aptPackages }) => aptPackages).join(" ");
    throw new Error(`this benchmark needs other servers; on Debian: apt-get install ${packages}`);
  }
  if (availableParallelism() < 2) throw new Error("this benchmark needs two processors");
};

const measure = async (server: Server, file: string, queries: readonly Buffer[]): Promise<void> => {
  const before = processorUs(server.pid);
  let isOver = false;
  const order = { file, port: server.port, underWay: UNDER_WAY, mostPerSecond: null, cpu: LOAD_CPU };
  const probing = probe(server.port, queries, { everyMs: PROBE_EVERY_MS, isOver: () => isOver });
  const run = await dnsperf({ ...order, limit: { seconds: SECONDS } });
  const cpuUs = processorUs(server.pid) - before;
  isOver = true;
  const took = await probing;
  if (run.failed > 0) throw new Error(`${server.name}: ${run.failed} of ${run.completed} answers were none`);
  server.perSecond.push(run.queriesPerSecond);
  server.cpuUs.push(cpuUs / (run.completed + took.length));
  server.took.push(...took);
};

/** Each network and label once: what is made when it is first asked for is made. */
const warm = async ({ port }: Server, file: string): Promise<void> => {
  for (let i = 0; i < 2; i++) {
    await dnsperf({ file, port, underWay: UNDER_WAY, limit: { rounds: 1 }, mostPerSecond: null, cpu: LOAD_CPU });
  }
};

const rowsOf = (server: Server, echo: Server): readonly BenchRow[] => {
  const what = server.name;
  const alone = { against: null, ratio: null, bound: null };
  const { p50Ms, p99Ms, unanswered } = latenciesOf(server.took);
  const perSecond = median(server.perSecond);
  const cpuUs = median(server.cpuUs);
  const isEcho = server === echo;
  const isOurs = server.name === OURS;
  const against = isEcho ? null : echo.name;
  return [
    {
      ...{ what, value: perSecond, unit: "answers/s", against },
      ratio: isEcho ? null : perSecond / median(echo.perSecond),
      bound: isOurs ? "≥ 0.85" : null,
    },
    {
      ...{ what: `${what}: processor time`, value: cpuUs, unit: "µs/answer", against, bound: null },
      ratio: isEcho ? null : cpuUs / median(echo.cpuUs),
    },
    { what: `${what}: p50`, value: p50Ms, unit: "ms", ...alone },
    { what: `${what}: p99 (${unanswered} of ${server.took.length} unanswered)`, value: p99Ms, unit: "ms", ...alone },
  ];
};

const OURS = "llm-gtm, no reports";

export const bench: Bench = {
  name: "dns-rivals",
  run: async () => {
    required();
    const folder = mkdtempSync(join(tmpdir(), "gtm-rivals-"));
    const names = labelled();
    const addressOf = new Map(REGIONS.map(({ id, endpoint }) => [id, endpoint.ipv4[0] ?? ""]));
    const data = { names: names.map(({ name, home }) => [name, addressOf.get(home) ?? ""] as const) };
    const queries = mixedQueries(names);
    const file = writePackets(folder, queries);
    const servers: Server[] = [];
    try {
      const echo = await startOurs("a bare dgram echo", "echo");
      servers.push(echo, await startOurs(OURS, "dns"), await startOurs("llm-gtm, reports arriving", "dns-reports"));
      servers.push(await startOurs("llm-gtm, one datagram at a time", "dns-single"));
      for (const rival of RIVALS) servers.push(await startRival(rival, join(folder, rival.command), data));
      pin(process.pid, LOAD_CPU);
      for (const server of servers) {
        pin(server.pid, SERVER_CPU);
        await warm(server, file);
      }
      for (let round = 0; round < ROUNDS; round++) {
        for (const server of round % 2 === 0 ? servers : servers.toReversed()) await measure(server, file, queries);
      }
      return servers.flatMap((server) => rowsOf(server, echo));
    } finally {
      for (const { stop } of servers) await stop();
      rmSync(folder, { recursive: true });
    }
  },
};
