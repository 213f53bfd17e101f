/** For the benchmarks with Redis: a redis-server, GTM processes on it that share their keys, and reports of two regions. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "#shared/clock.ts";
import { ModelId } from "#shared/ids.ts";
import { silentLogger } from "#shared/logger.ts";
import type { ModelReport } from "#shared/report.ts";
import type { Store } from "#shared/store.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { aModelReport, aReport } from "#test/support/report-builders.ts";

export type GtmProcess = AsyncDisposable & {
  readonly http: number;
  readonly dns: number;
  readonly metrics: number;
  readonly pid: number;
};

export type RedisHouse = AsyncDisposable & {
  readonly redis: RedisServer;
  readonly store: Store;
  /** @returns once every listener is open */
  readonly startGtm: (instance: string) => Promise<GtmProcess>;
  /** Puts a report of the region now; those that nobody puts are put each second as they were. */
  readonly report: (region: string, change: Partial<ModelReport>) => Promise<void>;
};

const MODEL = ModelId.parse(SIMULATED_MODEL);
const REPORTED_EVERY_MS = 1_000;
const PATIENCE_MS = 30_000;

export const startRedisHouse = async (): Promise<RedisHouse> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-bench-"));
  execFileSync(process.execPath, ["gtm/main.ts", "keys", "init", "--dir", join(folder, "keys")], { stdio: "ignore" });
  const redis = await startRedis();
  const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "5s" }), {
    clock: systemClock,
    log: silentLogger,
    name: "bench",
  });
  const changes = new Map<string, Partial<ModelReport>>();
  let seq = 0;
  const report = async (region: string, change: Partial<ModelReport>): Promise<void> => {
    changes.set(region, change);
    seq += 1;
    const models = [aModelReport(region, { model: MODEL, ...change })];
    await publishReport(store, systemClock, aReport(region, { seq, reportedAtMs: Date.now(), models }));
  };
  const reportAll = async (): Promise<void> => {
    for (const { id } of HOUSE_REGIONS) await report(id, changes.get(id) ?? {});
  };
  await reportAll();
  // While Redis is stopped on purpose nothing is reported.
  const timer = setInterval(() => void reportAll().catch(() => undefined), REPORTED_EVERY_MS);

  return {
    redis,
    store,
    report,
    startGtm: (instance) => startGtm(folder, instance, redis.url),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await store.close();
      await redis.stop();
      rmSync(folder, { recursive: true });
    },
  };
};

const startGtm = async (folder: string, instance: string, storeUrl: string): Promise<GtmProcess> => {
  const path = join(folder, `${instance}.json`);
  const keys = join(folder, "keys");
  const yaml = houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } });
  // The zone that the load generators ask for.
  const config = JSON.parse(yaml.replaceAll("llm.test", "gslb.example.org"));
  const settings = {
    ...config,
    instance,
    store: { url: storeUrl },
    keys: { identity_file: join(keys, "identity.key"), signing_file: join(keys, "signing.keys") },
  };
  writeFileSync(path, JSON.stringify(settings));
  const child = spawn(process.execPath, ["gtm/main.ts", "serve", "--config", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const ports = new Map<string, number>();
  const lines = createInterface({ input: child.stdout });
  const started = Promise.withResolvers<void>();
  const late = setTimeout(() => started.reject(new Error("the GTM did not start")), PATIENCE_MS);
  lines.on("line", (line) => {
    const [, listener = "", port = ""] = /"event":"(\w+)\.listening".*?(?:"port":|:)(\d+)[",}]/.exec(line) ?? [];
    if (listener !== "") ports.set(listener, Number(port));
    if (line.includes('"process.started"')) started.resolve();
  });
  child.on("exit", (code) => started.reject(new Error(`the GTM ended with ${code}`)));
  try {
    await started.promise;
  } catch (fault) {
    await stop();
    throw fault;
  } finally {
    clearTimeout(late);
  }
  const portOf = (listener: string): number => {
    const port = ports.get(listener);
    if (port === undefined) throw new Error(`the GTM did not say where ${listener} listens`);
    return port;
  };
  return {
    http: portOf("http"),
    dns: portOf("dns"),
    metrics: portOf("metrics"),
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: stop,
  };
};

/** The sum over a metric's series. */
export const metricOf = async (gtm: GtmProcess, name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${gtm.metrics}/metrics`)).text();
  const values = text
    .split("\n")
    .filter((line) => line.startsWith(name.includes("{") ? name : `${name}{`) || line.startsWith(`${name} `));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
};
