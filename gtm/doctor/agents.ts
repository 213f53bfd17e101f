/** Whether every configured region is reported, lately, by agents that sign and whose clocks are right. Pure. */
import { age } from "#gtm/cli/quantity.ts";
import { AGENT_REMEDIES, refusalRemedy } from "#gtm/wire/admin/agent-remedies.ts";
import type { RegionId } from "#shared/ids.ts";
import type { AgentFact, RegionAgents } from "./agent-facts.ts";
import { counted, type Finding, listed, ok, problem, unknown, warning } from "./finding.ts";

export type AgentInputs = {
  readonly regions: readonly RegionAgents[];
  /** Regions of which a report key is configured; null: the key files cannot be read. */
  readonly signing: ReadonlySet<RegionId> | null;
  /** From the policy: reports older than this are doubted, and than that not used. */
  readonly staleAfterMs: number;
  readonly expiredAfterMs: number;
  /** Epoch ms by the store's clock; null: not known. */
  readonly storeNowMs: number | null;
  /** Of this program. */
  readonly version: string;
};

const CLOCK_OFF_MS = 5_000;

export const agentFindings = (inputs: AgentInputs): readonly Finding[] =>
  inputs.regions.flatMap((region) => regionFindings(region, inputs));

const regionFindings = ({ region, agents, fault }: RegionAgents, inputs: AgentInputs): readonly Finding[] => {
  if (fault !== null) return [unknown("agents", `The agents of ${region} are not known: ${fault}.`)];
  const reporting = agents.filter(({ found }) => found !== null);
  if (reporting.length === 0) return [noneFinding(region, agents)];
  const ages = reporting.map(({ found }) => found?.ageMs ?? 0);
  const findings = [
    ...agents.filter(({ found }) => found === null).map(({ agent }) => missingFinding(region, agent)),
    ...reporting.flatMap((agent) => agentFindingsOf(region, agent, inputs)),
  ];
  return findings.length > 0
    ? findings
    : [
        ok(
          "agents",
          `${region}: ${counted(reporting.length, "agent")}, last heard ${age(Math.min(...ages))} ago${inputs.signing?.has(region) === true ? ", signed" : ""}.`,
        ),
      ];
};

const noneFinding = (region: RegionId, agents: readonly AgentFact[]): Finding => {
  const before = agents.length === 0 ? "" : ` (${listed(agents.map(({ agent }) => agent))} did before)`;
  return problem(
    "region-unreported",
    `No agent reports ${region}${before}: it gets no conversation but by the last resort.`,
    AGENT_REMEDIES.start(region),
  );
};

const missingFinding = (region: RegionId, agent: string): Finding =>
  warning(
    "agent-missing",
    `${region}/${agent} is listed and has not reported for 30 s or more: the region counts without it.`,
    AGENT_REMEDIES.missing,
  );

const agentFindingsOf = (region: RegionId, { agent, found }: AgentFact, inputs: AgentInputs): readonly Finding[] => {
  if (found === null) return [];
  const name = `${region}/${agent}`;
  if (found.check.kind === "refused") return [refusedFinding(name, region, found.check)];
  const { report } = found.check;
  return [
    ...ageFindings(name, found.ageMs, inputs),
    ...clockFindings(name, report.reportedAtMs, found.ageMs, inputs.storeNowMs),
    ...signatureFindings(name, region, report.mac, inputs.signing),
    ...versionFindings(name, report.agentVersion, inputs.version),
  ];
};

type Refused = Extract<NonNullable<AgentFact["found"]>["check"], { readonly kind: "refused" }>;

const refusedFinding = (name: string, region: RegionId, { reason, detail }: Refused): Finding => {
  const what = `${name} is not believed (${reason}): ${detail}.`;
  return problem("agent-refused", what, refusalRemedy(reason, region));
};

const ageFindings = (
  name: string,
  ageMs: number,
  { staleAfterMs, expiredAfterMs }: AgentInputs,
): readonly Finding[] => {
  const remedy = AGENT_REMEDIES.stale;
  if (ageMs >= expiredAfterMs) {
    return [problem("agent-stale", `${name} was last heard ${age(ageMs)} ago: its region is no candidate.`, remedy)];
  }
  return ageMs < staleAfterMs
    ? []
    : [warning("agent-stale", `${name} was last heard ${age(ageMs)} ago: what it said is doubted.`, remedy)];
};

const clockFindings = (
  name: string,
  reportedAtMs: number,
  ageMs: number,
  storeNowMs: number | null,
): readonly Finding[] => {
  if (storeNowMs === null) return [];
  const aheadMs = reportedAtMs - (storeNowMs - ageMs);
  return Math.abs(aheadMs) <= CLOCK_OFF_MS
    ? []
    : [
        warning(
          "agent-clock",
          `The clock of ${name} is ${age(Math.abs(aheadMs))} ${aheadMs > 0 ? "ahead of" : "behind"} the store's: ages are right all the same, times on display are not.`,
          AGENT_REMEDIES.clock,
        ),
      ];
};

/** @param said undefined: an agent from before it said so */
const versionFindings = (name: string, said: string | undefined, version: string): readonly Finding[] =>
  said === undefined || said === version
    ? []
    : [warning("agent-version", `${name} runs version ${said}, this program is ${version}.`, AGENT_REMEDIES.version)];

const signatureFindings = (
  name: string,
  region: RegionId,
  mac: string | null,
  signing: AgentInputs["signing"],
): readonly Finding[] => {
  if (signing === null || signing.has(region)) return [];
  const what =
    mac === null
      ? `${name} does not sign its reports, and no key asks for it: whoever writes to the store can speak for ${region}.`
      : `${name} signs its reports, and no key verifies that.`;
  return [warning("agent-unsigned", what, AGENT_REMEDIES.unsigned(region))];
};
