/** DNS by two threads against one, under a generator that is not ours; and what it costs the main thread to tell the threads of the world. */
import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { createDecisionIds } from "#gtm/decision-id.ts";
import type { Client } from "#gtm/domain/client.ts";
import type { Decision } from "#gtm/domain/decision.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { type Cell, cellOf, createCellSteer } from "#gtm/steering/cell.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { systemClock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";
import { aClient, aPool, aRegion, aWorld, PLACES } from "#test/support/builders.ts";
import { alternate, type Bench, type BenchRow, consume, median } from "./bench.ts";
import type { ServerUsage } from "./dns-server.ts";
import type { ThreadsReady } from "./dns-threads-server.ts";

const PAIRS = 4;
const SECONDS = 5;
const ZONE = "gslb.example.org";
const NAMES = ["chat", "asia", "many", "web", "front"];

type Server = { readonly child: ChildProcess; readonly port: number; readonly cpuUs: number[] };

const startServer = async (workers: number): Promise<Server> => {
  const child = fork(join(import.meta.dirname, "dns-threads-server.ts"), [String(workers)]);
  const [{ port }] = (await once(child, "message")) as [ThreadsReady];
  return { child, port, cpuUs: [] };
};

const cpuUsOf = async (child: ChildProcess): Promise<number> => {
  const answer = once(child, "message");
  child.send({});
  return ((await answer) as [ServerUsage])[0].cpuUs;
};

/** dnsperf counts what came back; its source ports are many, so that the kernel spreads them. @returns answers a second */
const measure = async ({ child, port, cpuUs }: Server, file: string): Promise<number> => {
  const places = ["-s", "127.0.0.1", "-p", String(port), "-d", file];
  const args = [...places, "-l", String(SECONDS), "-c", "64", "-T", "1", "-q", "256"];
  const before = await cpuUsOf(child);
  const { stdout, status } = spawnSync("dnsperf", args, { encoding: "utf8" });
  const [, completed] = /Queries completed:\s+(\d+)/.exec(stdout) ?? [];
  const [, qps] = /Queries per second:\s+([\d.]+)/.exec(stdout) ?? [];
  if (status !== 0 || qps === undefined || completed === undefined) throw new Error(`dnsperf failed:\n${stdout}`);
  cpuUs.push(((await cpuUsOf(child)) - before) / Number(completed));
  return Number(qps);
};

const threadRows = async (): Promise<readonly BenchRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "dns-workers-"));
  const [two, one] = [await startServer(2), await startServer(1)];
  try {
    const file = join(folder, "queries");
    writeFileSync(file, NAMES.map((name) => `${name}.${ZONE} A\n`).join(""));
    const { a, ratio } = await alternate(
      PAIRS,
      () => measure(two, file),
      () => measure(one, file),
    );
    const what = "DNS by dnsperf, pool names, two threads";
    const against = "the main thread alone";
    const cpu = { two: median(two.cpuUs.slice(1)), one: median(one.cpuUs.slice(1)) };
    return [
      // Of a machine with two cores the generator takes one: what threads are worth shows on more.
      { what, value: a, unit: "answers/s", against, ratio, bound: null },
      {
        what: `${what}: processor time`,
        value: cpu.two,
        unit: "µs/answer",
        against,
        ratio: cpu.two / cpu.one,
        bound: null,
      },
    ];
  } finally {
    for (const { child } of [two, one]) child.disconnect();
    rmSync(folder, { recursive: true });
  }
};

/** Microseconds of processor time: what is measured neither waits nor sleeps, and other processes may. */
const usOf = (iterations: number, work: () => unknown): number => {
  for (let i = 0; i < iterations / 10; i++) consume(work());
  const before = process.cpuUsage();
  for (let i = 0; i < iterations; i++) consume(work());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / iterations;
};

const REGIONS = 20;
const REPLICAS = 8;
const BATCH = 100;

/** By the serializer that messages between threads go through; the thread's part is the reading. */
const snapshotRows = (): readonly BenchRow[] => {
  const places = Object.keys(PLACES) as (keyof typeof PLACES)[];
  const regions = Array.from({ length: REGIONS }, (_, i) =>
    aRegion(`region-${i}`, { place: places[i % places.length] ?? "frankfurt", placement: { replicaCount: REPLICAS } }),
  );
  const world = aWorld(regions);
  const row = { against: null, ratio: null, bound: null, unit: "µs" };
  const octets = serialize(world);
  const decisions = decisionsOf(regions, world);
  const toldUs = usOf(2_000, () => serialize(world));
  const heardUs = usOf(2_000, () => deserialize(octets));
  const batchUs = usOf(100, () => deserialize(serialize(decisions)));
  const of = `a world of ${REGIONS} regions, ${REPLICAS} replicas each`;
  return [
    { what: `DNS threads, ${of} told to one thread`, value: toldUs, ...row },
    { what: `DNS threads, ${of} heard by one thread`, value: heardUs, ...row },
    { what: `DNS threads, ${of}`, value: octets.length, ...row, unit: "bytes" },
    { what: `DNS threads, a decision among ${REGIONS} regions told and heard`, value: batchUs / BATCH, ...row },
  ];
};

const decisionsOf = (regions: readonly Region[], world: World): readonly Decision[] => {
  const decide = createCellSteer({ world: () => world }, DEFAULT_POLICY);
  const pool = aPool(regions);
  const newId = createDecisionIds(systemClock);
  return Array.from({ length: BATCH }, (_, i) => {
    const client = aClient("frankfurt", { area: `area-${i}` });
    const cell = cellOf(pool, client, 4);
    return decide(queryOf(newId(), cell, client), client, cell, null);
  });
};

const queryOf = (id: DecisionId, { pool, model }: Cell, { subnet }: Client): Query => ({
  ...{ id, channel: "dns", kind: "cell", pool, model, tenant: "default", clientSubnet: subnet, receivedAtMs: 0 },
  ...{
    conversationId: null,
    parentId: null,
    pinnedTo: null,
    promptTokens: null,
    outputTokens: null,
    outputLimitTokens: null,
    stateRegion: null,
  },
});

export const bench: Bench = {
  name: "dns-workers",
  run: async () => [...(await threadRows()), ...snapshotRows()],
};
