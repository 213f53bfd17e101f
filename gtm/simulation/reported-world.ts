/** The world as a simulated GTM knows it: regions report each second, and the production assembly makes a world of it. */
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import { NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { SendTo } from "#gtm/domain/sends.ts";
import { type World, withSend } from "#gtm/domain/world.ts";
import { assembleWorld, type LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { ModelId } from "#shared/ids.ts";
import { createReporter, type Eyes } from "./region-reporter.ts";
import type { Stage } from "./rival.ts";
import type { EngineOptions } from "./serving/engine-options.ts";

export const SIMULATED = ModelId.parse("simulated");

const REPORT_EVERY_MS = 1_000;
/** By then a report has come that knows of the send. */
const SENDS_KEPT_MS = 30_000;

export type ReportedWorld = {
  readonly world: () => World;
  /** Known at once, before any report. */
  readonly sent: (to: SendTo) => void;
};

export type ReportedWorldOptions = {
  readonly engine: EngineOptions;
  readonly eyes: Eyes;
  readonly policy: Policy;
  /** What the ledger says is held, at a moment. */
  readonly live: (nowMs: number) => readonly LiveTokens[];
};

export const createReportedWorld = (stage: Stage, options: ReportedWorldOptions): ReportedWorld => {
  const { engine, eyes, policy, live } = options;
  const { agenda, sites, regions } = stage;
  const reports = new Map<number, HeardReport>();
  let sends: SendTo[] = [];
  let world: World | null = null;

  const assemble = (): World => {
    const nowMs = agenda.nowMs();
    sends = sends.filter(({ send }) => send.arrivalAtMs > nowMs - SENDS_KEPT_MS);
    return assembleWorld({
      previous: world,
      nowMs,
      epochAheadMs: 0,
      sites,
      models: [{ id: SIMULATED, aliases: [], weightBytes: null, coldStartMs: null }],
      policy,
      reports: [...reports.values()],
      regionsWithAbsentAgents: [],
      probes: new Map(),
      freezes: [],
      regionFreezes: new Map(),
      isStoreUp: true,
      admin: new Map(),
      overrides: [],
      sends,
      live: live(nowMs),
      heldObserved: [],
      learnt: NOTHING_LEARNT,
    });
  };
  const hear = (index: number, report: (nowMs: number) => HeardReport): void => {
    reports.set(index, report(agenda.nowMs()));
    world = assemble();
    agenda.at(agenda.nowMs() + REPORT_EVERY_MS, () => hear(index, report));
  };
  for (const [index, site] of sites.entries()) {
    const region = regions[index];
    if (region === undefined) throw new Error(`${site.id} is not served`);
    const report = createReporter({ site, region, engine, model: SIMULATED, eyes });
    // Each region's agent keeps time of its own.
    agenda.at((index * REPORT_EVERY_MS) / sites.length, () => hear(index, report));
  }
  return {
    world: () => {
      world ??= assemble();
      return world;
    },
    sent: (to) => {
      sends.push(to);
      world = world === null ? null : withSend(world, to.region, to.model, to.send);
    },
  };
};
