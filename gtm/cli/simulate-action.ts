/** What `gtm simulate` does once its options are read: plan, play, report. */
import { reportPage } from "#gtm/simulation/report/page.ts";
import { loadConfig } from "#shared/config.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { compareText } from "./simulate-compare.ts";
import { planOf, SimulateConfig } from "./simulate-config.ts";
import { decisionsText } from "./simulate-decisions.ts";
import { describedText } from "./simulate-describe.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import { oracleDiffText } from "./simulate-oracle-diff.ts";
import type { Plan, PlannedScenario } from "./simulate-plan.ts";
import { type Builder, createBuilder, KNOWN } from "./simulate-play.ts";
import { checkWritable, readReport, reportJson, writeReportText } from "./simulate-report-file.ts";
import { runPlan } from "./simulate-run.ts";
import { DECISIONS, faultOfTraffic } from "./simulate-sources.ts";
import { reportText } from "./simulate-text.ts";

/** @throws {CliFailure} wrong use, or a report that cannot be read */
export const compareFiles = (paths: readonly string[], io: CliIo): void => {
  const [before, after] = paths;
  if (before === undefined || after === undefined || paths.length > 2) {
    throw new CliFailure(EXIT.usage, `--compare takes two files that --json wrote, found ${paths.length}`);
  }
  io.print(compareText(readReport(before), readReport(after), io.isColourful));
};

/** @throws {CliFailure} @throws {OperationalError} a configuration or a trace that cannot be used */
export const simulate = async (options: SimulateOptions, io: CliIo, signal: AbortSignal): Promise<void> => {
  const plan = options.config === undefined ? planOfOptions(options) : planOfFile(options, options.config, io);
  if (!Number.isSafeInteger(options.jobs) || options.jobs < 1) {
    throw new CliFailure(EXIT.usage, `--jobs takes a whole number of 1 or more, found ${options.jobs}`);
  }
  const build = createBuilder();
  for (const planned of plan.scenarios) tellOf(planned, build, io);
  if (options.describe === true) {
    for (const planned of plan.scenarios) io.print(describedText(planned, build));
    return;
  }
  if (options.oracleDiff === true) {
    for (const planned of plan.scenarios) io.print(oracleDiffText(planned, build, io.isColourful));
    return;
  }
  // Before hours are spent on what cannot be kept.
  for (const path of [options.json, options.html]) if (path !== undefined) checkWritable(path);
  const report = await runPlan({ plan, build, threads: options.jobs, signal, io });
  if (options.json !== undefined) writeReportText(options.json, reportJson(report));
  if (options.html !== undefined) writeReportText(options.html, reportPage(report));
  io.print(reportText(report, io.isColourful));
};

/** @throws {CliFailure} what its traffic cannot do @throws {OperationalError} a trace that cannot be read */
const tellOf = (planned: PlannedScenario, build: Builder, io: CliIo): void => {
  const fault = faultOfTraffic(planned, build.sourceOf(planned));
  if (fault !== null) throw new CliFailure(EXIT.usage, fault);
  if (planned.traffic.startsWith(DECISIONS)) io.tell(decisionsText(planned, build.scenarioOf(planned)));
};

/** Options that a configuration has in its stead. */
const PLANNING = [
  "scenario",
  "policy",
  "traffic",
  "fromDecisions",
  "regions",
  "load",
  "users",
  "seeds",
  "firstSeed",
  "duration",
  "warmUp",
] as const;

const planOfFile = (options: SimulateOptions, path: string, io: CliIo): Plan => {
  const both = PLANNING.filter((option) => options[option] !== undefined);
  if (both.length > 0)
    throw new CliFailure(EXIT.usage, `--config says what to play; leave out ${both.map(flagOf).join(", ")}`);
  const plan = planOf(loadConfig(SimulateConfig, path, { env: io.env, code: "GTM_CONFIG_INVALID" }), KNOWN);
  if ("fault" in plan) throw new CliFailure(EXIT.error, `${path}: ${plan.fault}`);
  return plan;
};

const planOfOptions = (options: SimulateOptions): Plan => {
  const { scenario, policy, regions, load, users, seeds, firstSeed, duration, warmUp } = options;
  if (options.traffic !== undefined && options.fromDecisions !== undefined) {
    throw new CliFailure(EXIT.usage, "--traffic and --from-decisions both say what is asked; leave out one");
  }
  const traffic = options.fromDecisions === undefined ? options.traffic : `${DECISIONS}${options.fromDecisions}`;
  const raw = {
    ...{ version: 1, scenarios: scenario ?? ["steady"], policies: policy, traffic, load, users, seeds, duration },
    ...{ regions: regions === undefined ? undefined : Number(regions), first_seed: firstSeed, warm_up: warmUp },
  };
  const parsed = SimulateConfig.safeParse(raw);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `--${String(path[0]).replace("_", "-")}: ${message}`);
    throw new CliFailure(EXIT.usage, faults.join("\n"));
  }
  const plan = planOf(parsed.data, KNOWN);
  if ("fault" in plan) throw new CliFailure(EXIT.usage, plan.fault);
  return plan;
};

const flagOf = (option: string): string => `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
