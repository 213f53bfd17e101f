/** What is wrong with an agent, each with what mends it. */
import { AGENT_REMEDIES, refusalRemedy } from "./agent-remedies.ts";
import type { AgentSeen } from "./agents-port.ts";
import { ageText } from "./quantity-text.ts";

export type AgentFault = {
  /** As in `gtm doctor`. */
  readonly id: string;
  readonly severity: "problem" | "warning";
  readonly what: string;
  readonly remedy: string;
};

/** `silent`: its report has expired, or it has none. */
export type AgentState = "reporting" | "stale" | "silent" | "refused";

export type AgentLimits = { readonly staleAfterMs: number; readonly expiredAfterMs: number };

export type FaultContext = AgentLimits & {
  /** All agents of the same region, this one among them. */
  readonly ofRegion: readonly AgentSeen[];
  readonly nowEpochMs: number;
  /** Of this GTM. */
  readonly version: string;
};

const CLOCK_OFF_MS = 5_000;
/** How long two processes under one name are told of after they were seen. */
const DOUBLE_TOLD_MS = 60_000;
/** Share of an agent's reports that never came, of at least so many. */
const MISSED_FRACTION = 0.02;
const LEAST_MISSED = 3;

export const agentState = ({ report, reportAgeMs, refusal }: AgentSeen, limits: AgentLimits): AgentState => {
  if (refusal?.isStanding === true) return "refused";
  if (report === null || reportAgeMs === null || reportAgeMs >= limits.expiredAfterMs) return "silent";
  return reportAgeMs >= limits.staleAfterMs ? "stale" : "reporting";
};

export const agentFaults = (seen: AgentSeen, context: FaultContext): readonly AgentFault[] => [
  ...stateFaults(seen, context),
  ...processFaults(seen, context),
  ...reportFaults(seen, context),
];

const nameOf = ({ region, agent }: Pick<AgentSeen, "region" | "agent">): string =>
  agent === "" ? `Region ${region}` : `${region}/${agent}`;

const stateFaults = (seen: AgentSeen, context: FaultContext): readonly AgentFault[] => {
  const name = nameOf(seen);
  const { refusal, reportAgeMs } = seen;
  switch (agentState(seen, context)) {
    case "reporting":
      return [];
    case "refused": {
      const { reason, detail } = refusal ?? { reason: "", detail: "" };
      const what = `${name} is not believed (${reason}): ${detail}.`;
      return [problem("agent-refused", what, refusalRemedy(reason, seen.region))];
    }
    case "stale":
      return [
        warning(
          "agent-stale",
          `${name} was last heard ${ageText(reportAgeMs ?? 0)} ago: what it said is doubted.`,
          AGENT_REMEDIES.stale,
        ),
      ];
    case "silent": {
      const isLast = !context.ofRegion.some((one) => ["reporting", "stale"].includes(agentState(one, context)));
      const since = reportAgeMs === null ? "has no report in the store" : `was last heard ${ageText(reportAgeMs)} ago`;
      const what = `${name} ${since}: ${isLast ? "its region is no candidate" : "the region counts without it"}.`;
      return [{ id: "agent-missing", severity: isLast ? "problem" : "warning", what, remedy: AGENT_REMEDIES.missing }];
    }
  }
};

const processFaults = (seen: AgentSeen, { nowEpochMs, version, ...limits }: FaultContext): readonly AgentFault[] => {
  const { pulse, report } = seen;
  const name = nameOf(seen);
  const faults: AgentFault[] = [];
  if (pulse === null || report === null) return faults;
  const { doubledAtMs, missedReports, heardReports, clockAheadMs } = pulse;
  if (doubledAtMs !== null && nowEpochMs - doubledAtMs < DOUBLE_TOLD_MS) {
    const what = `Two processes call themselves ${name}: each overwrites what the other says.`;
    faults.push(problem("agent-double", what, "Give each a name of its own: `agent:` of its configuration."));
  }
  if (missedReports >= LEAST_MISSED && missedReports / (missedReports + heardReports) > MISSED_FRACTION) {
    const what = `${missedReports} of ${missedReports + heardReports} reports of ${name} never came.`;
    const remedy =
      "See edge_agent_reports_failed_total and its log: the store is slow or far, or the network loses what is sent.";
    faults.push(warning("agent-gaps", what, remedy));
  }
  const isHeard = agentState(seen, limits) !== "silent";
  if (isHeard && Math.abs(clockAheadMs) > CLOCK_OFF_MS) {
    const way = clockAheadMs > 0 ? "ahead of" : "behind";
    const what = `The clock of ${name} is ${ageText(Math.abs(clockAheadMs))} ${way} this GTM's: ages are right all the same, times on display are not.`;
    faults.push(warning("agent-clock", what, AGENT_REMEDIES.clock));
  }
  if (report.agentVersion !== undefined && report.agentVersion !== version) {
    const what = `${name} runs version ${report.agentVersion}, this GTM ${version}.`;
    faults.push(warning("agent-version", what, AGENT_REMEDIES.version));
  }
  return faults;
};

const reportFaults = (seen: AgentSeen, { ofRegion }: FaultContext): readonly AgentFault[] => {
  const { report, isKeyKnown } = seen;
  if (report === null) return [];
  const name = nameOf(seen);
  const faults: AgentFault[] = [];
  const others = ofRegion.filter((one) => one.agent !== seen.agent && one.report !== null);
  const shared = others.find((one) => replicasOf(one).some((id) => replicasOf(seen).includes(id)));
  if (shared !== undefined) {
    const id = replicasOf(seen).find((one) => replicasOf(shared).includes(one));
    const what = `${name} and ${shared.agent} both report ${id}: its requests are counted twice.`;
    faults.push(
      problem("agents-overlap", what, "Let each engine be read by one agent: `engines:` of their configurations."),
    );
  }
  if (!isKeyKnown) {
    const what =
      report.mac === null
        ? `${name} does not sign its reports, and no key asks for it: whoever writes to the store can speak for ${seen.region}.`
        : `${name} signs its reports, and no key verifies that.`;
    faults.push(warning("agent-unsigned", what, AGENT_REMEDIES.unsigned(seen.region)));
  }
  return faults;
};

const replicasOf = ({ report }: AgentSeen): readonly string[] =>
  report?.models.flatMap(({ replicas }) => replicas.map(({ id }) => id)) ?? [];

const problem = (id: string, what: string, remedy: string): AgentFault => ({ id, severity: "problem", what, remedy });
const warning = (id: string, what: string, remedy: string): AgentFault => ({ id, severity: "warning", what, remedy });
