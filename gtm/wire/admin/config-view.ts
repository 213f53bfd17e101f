/** The configuration as the API, the command line and the page show it. */
import { z } from "@hono/zod-openapi";
import type { ConfigChange, ConfigPlan, ConfigProblem, ConfigState } from "./configuration-port.ts";

/** Anything that a file can write. */
const value = z.unknown().openapi({ description: "As a file would write it; null: not there" });

export const ConfigFault = z
  .looseObject({
    /** From 1; null: it is about no line. */
    line: z.number().nullable(),
    column: z.number().nullable(),
    at: z.string(),
    message: z.string(),
  })
  .openapi("ConfigFault");
export type ConfigFault = z.infer<typeof ConfigFault>;

export const ConfigChangeView = z
  .looseObject({
    at: z.string(),
    section: z.string(),
    kind: z.string(),
    running: value,
    file: value,
    /** `live`, or `restart`: until then what runs stands. */
    effect: z.string(),
  })
  .openapi("ConfigChange");
export type ConfigChangeView = z.infer<typeof ConfigChangeView>;

export const ConfigPlanView = z
  .looseObject({
    hash: z.string(),
    changes: z.array(ConfigChangeView),
    pools: z.array(
      z.looseObject({ pool: z.string(), regionsLost: z.array(z.string()), regionsGained: z.array(z.string()) }),
    ),
    restartNeeded: z.boolean(),
    /** SOA serial that would be served. */
    serial: z.number(),
    warnings: z.array(z.string()),
  })
  .openapi("ConfigPlan");
export type ConfigPlanView = z.infer<typeof ConfigPlanView>;

export const ConfigOutcome = z
  .looseObject({
    /** `taken`, `unchanged`, `refused`; of a check `sound` or `faulty`. */
    outcome: z.string(),
    /** Whether anything was done. */
    isDryRun: z.boolean(),
    faults: z.array(ConfigFault),
    /** null: it is faulty. */
    plan: ConfigPlanView.nullable(),
  })
  .openapi("ConfigOutcome");
export type ConfigOutcome = z.infer<typeof ConfigOutcome>;

export const ConfigView = z
  .looseObject({
    instance: z.string(),
    version: z.number(),
    /** Last part of the file's path; null: it came from no file. */
    source: z.string().nullable(),
    isWatched: z.boolean(),
    loadedAt: z.string(),
    loadedAgeMs: z.number(),
    hash: z.string(),
    sections: z.array(z.looseObject({ name: z.string(), hash: z.string(), settings: value })),
    references: z.array(z.looseObject({ at: z.string(), from: z.string() })),
    pending: z.array(ConfigChangeView),
    refused: z
      .looseObject({ since: z.string(), ageMs: z.number(), by: z.string(), faults: z.array(ConfigFault) })
      .nullable(),
  })
  .openapi("Config");
export type ConfigView = z.infer<typeof ConfigView>;

const changeView = ({ from, to, ...change }: ConfigChange): ConfigChangeView => ({
  ...change,
  running: from,
  file: to,
});

export const faultsView = (faults: readonly ConfigProblem[]): ConfigFault[] => faults.map((fault) => ({ ...fault }));

export const planView = (plan: ConfigPlan): ConfigPlanView => ({
  hash: plan.hash,
  changes: plan.changes.map(changeView),
  pools: plan.pools.map(({ pool, regionsLost, regionsGained }) => ({
    pool,
    regionsLost: [...regionsLost],
    regionsGained: [...regionsGained],
  })),
  restartNeeded: plan.changes.some(({ effect }) => effect === "restart"),
  serial: plan.serial,
  warnings: [...plan.warnings],
});

export const configView = (state: ConfigState, instance: string, nowEpochMs: number): ConfigView => {
  const { refused, loadedAtMs, sections, references, pending, ...rest } = state;
  return {
    instance,
    ...rest,
    loadedAt: new Date(loadedAtMs).toISOString(),
    loadedAgeMs: ageOf(loadedAtMs, nowEpochMs),
    sections: sections.map((section) => ({ ...section })),
    references: references.map((reference) => ({ ...reference })),
    pending: pending.map(changeView),
    refused:
      refused === null
        ? null
        : {
            since: new Date(refused.sinceMs).toISOString(),
            ageMs: ageOf(refused.sinceMs, nowEpochMs),
            by: refused.by,
            faults: faultsView(refused.faults),
          },
  };
};

const ageOf = (atMs: number, nowMs: number): number => Math.max(0, Math.round(nowMs - atMs));
