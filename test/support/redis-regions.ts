/** Two regions on a real Redis: agents as processes beside scripted engines, and a GTM as a process that hears them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { houseYaml } from "./house.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import { type ProgramOptions, type RunningProgram, startProgram } from "./running-program.ts";
import { type ScriptedEngine, startScriptedEngine, whole } from "./scripted-engine.ts";
import { vllmPage } from "./vllm-page.ts";

export type AgentWish = ProgramOptions & {
  readonly region?: string;
  readonly agent?: string;
  /** base64; absent: it does not sign. */
  readonly key?: string;
  /** Requests that its engine says are running. */
  readonly running?: number;
};

export type RunningAgent = { readonly program: RunningProgram; readonly engine: ScriptedEngine };

export type GtmWish = ProgramOptions & {
  readonly policy?: Readonly<Record<string, unknown>>;
  /** By region, base64. */
  readonly keys?: Readonly<Record<string, string>>;
};

export type RedisRegions = AsyncDisposable & {
  readonly redis: RedisServer;
  readonly startAgent: (wish?: AgentWish) => Promise<RunningAgent>;
  readonly startGtm: (wish?: GtmWish) => Promise<RunningProgram>;
};

export const startRedisRegions = async (): Promise<RedisRegions> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-regions-"));
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(folder, { recursive: true }));
  const redis = started.use(await startRedis());
  /** What probes ask. */
  const well = started.use(await startScriptedEngine());
  let files = 0;
  const written = (text: string): string => {
    files += 1;
    const file = join(folder, `file-${files}`);
    writeFileSync(file, text);
    return file;
  };
  const all = started.move();
  return {
    redis,
    startAgent: async ({ region = "eu-central", agent = "a1", key, running = 1, ...options } = {}) => {
      const engine = all.use(await startScriptedEngine());
      engine.answers.set("/metrics", whole(vllmPage([{ running }])));
      const settings = {
        ...{ version: 1, region, agent, store: { url: redis.url }, engines: [{ url: engine.origin }] },
        report: { interval: "200ms", key_file: key === undefined ? null : written(key) },
        metrics: { listen: "127.0.0.1:0" },
      };
      return { engine, program: all.use(await startProgram("edge-agent/main.ts", "run", settings, options)) };
    },
    startGtm: async ({ policy = {}, keys, ...options } = {}) => {
      const lines = Object.entries(keys ?? {}).map(([region, key]) => `${region} 1 current ${MADE} ${key}\n`);
      const house = JSON.parse(houseYaml(() => well.origin, { policy }));
      const settings = {
        ...house,
        store: { url: redis.url },
        ...(keys === undefined ? {} : { keys: { reports_file: written(lines.join("")) } }),
      };
      return all.use(await startProgram("gtm/main.ts", "serve", settings, options));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

const MADE = "2026-11-30T00:00:00Z";

/** A region as the GTM shows it. */
export const regionAt = async (gtm: RunningProgram, region = "eu-central"): Promise<RegionView> => {
  const { status, text } = await gtm.get("admin", `/api/v1/regions/${region}`);
  assert.equal(status, 200, text);
  return JSON.parse(text) as RegionView;
};

/** Of the region's only model; null: unknown. */
export const runningAt = async (gtm: RunningProgram, region = "eu-central"): Promise<number | null> =>
  (await regionAt(gtm, region)).placements[0]?.requestsRunning ?? null;

/** @param reason such as `signature`. @returns how many of the region's reports were refused for it; NaN: none */
export const refusedAt = (gtm: RunningProgram, reason: string, region = "eu-central"): Promise<number> =>
  gtm.metric("gtm_reports_refused_total", { region, reason });

/** Whatever machines take to do things: an hour is seen, ten seconds are not. */
export const isNow = (ageMs: number): boolean => ageMs < 10_000;
