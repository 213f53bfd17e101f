/** Plays a plan and puts its report together, whatever the order in which runs end. */
import {
  type PlayedRun,
  REPORT_VERSION,
  type Report,
  type ScenarioReport,
  scenarioReport,
} from "#gtm/simulation/report/report.ts";
import type { CliIo } from "./io.ts";
import { type Job, jobsOf, type Plan, type PlannedScenario } from "./simulate-plan.ts";
import { type Builder, facesOf, policyKind } from "./simulate-play.ts";
import { createProgressLine } from "./simulate-progress.ts";
import { playAll } from "./simulate-workers.ts";

export type Run = {
  readonly plan: Plan;
  readonly build: Builder;
  readonly threads: number;
  readonly signal: AbortSignal;
  readonly io: CliIo;
};

/** @throws {OperationalError} a trace that cannot be read or played */
export const runPlan = async ({ plan, build, threads, signal, io }: Run): Promise<Report> => {
  const jobs = jobsOf(plan);
  const progress = createProgressLine(io, jobs.length);
  const lengthMs = ({ scenario }: Job): number => {
    const planned = plan.scenarios[scenario];
    return planned === undefined ? 1 : planned.warmUpMs + planned.measuredMs;
  };
  const underWay = new Map<Job, number>();
  let played = 0;
  const reports = createCollector(plan, build);
  const show = (job: Job): void => {
    const partly = [...underWay.values()].reduce((sum, fraction) => sum + Math.min(0.99, fraction), 0);
    const scenario = plan.scenarios[job.scenario];
    const policy = scenario?.policies[job.policy]?.name ?? "";
    progress.show(played + partly, `${scenario?.name ?? ""}, ${policy}, seed ${job.seed}`);
  };
  try {
    await playAll(jobs, {
      threads,
      signal,
      playOf: (job) => playOf(plan, job),
      onProgress: (job, virtualMs) => {
        underWay.set(job, virtualMs / lengthMs(job));
        show(job);
      },
      onPlayed: (job, run) => {
        underWay.delete(job);
        played += 1;
        reports.add(job, run);
        show(job);
      },
    });
  } finally {
    progress.clear();
  }
  return {
    format: "gtm-simulation",
    version: REPORT_VERSION,
    isComplete: played === jobs.length,
    scenarios: reports.finished(),
  };
};

const playOf = ({ scenarios }: Plan, { scenario, policy, seed }: Job) => {
  const planned = scenarios[scenario];
  const chosen = planned?.policies[policy];
  if (planned === undefined || chosen === undefined) throw new RangeError("a run of no scenario");
  return { scenario: planned, policy: chosen, seed };
};

/** A scenario's runs are summed up once all are there: what they are added up in is large. */
const createCollector = ({ scenarios }: Plan, build: Builder) => {
  const runs = new Map<string, PlayedRun>();
  const done: (ScenarioReport | undefined)[] = scenarios.map(() => undefined);
  const keyOf = (scenario: number, policy: number, seed: number): string => `${scenario}/${policy}/${seed}`;
  const take = (scenario: number, planned: PlannedScenario): ScenarioReport | undefined => {
    const policies = planned.policies.map((policy, at) => ({
      policy: policy.name,
      kind: policyKind(policy.policy),
      parameters: policy.parameters,
      runs: planned.seeds.flatMap((seed) => runs.get(keyOf(scenario, at, seed)) ?? []),
    }));
    const some = policies.filter((policy) => policy.runs.length > 0);
    return some.length === 0 ? undefined : scenarioReport(facesOf(planned, build.scenarioOf(planned)), some);
  };
  return {
    add: (job: Job, run: PlayedRun): void => {
      runs.set(keyOf(job.scenario, job.policy, job.seed), run);
      const planned = scenarios[job.scenario];
      if (planned === undefined) return;
      const keys = planned.policies.flatMap((_, at) => planned.seeds.map((seed) => keyOf(job.scenario, at, seed)));
      if (!keys.every((key) => runs.has(key))) return;
      done[job.scenario] = take(job.scenario, planned);
      for (const key of keys) runs.delete(key);
    },
    /** What was broken off in the middle of a scenario is told of with the seeds that it has. */
    finished: (): readonly ScenarioReport[] => scenarios.flatMap((planned, at) => done[at] ?? take(at, planned) ?? []),
  };
};
