/** `gtm simulate --describe`: what a traffic is like, and whether affinity helps it, before anything is played. */
import { type AffinityGate, affinityGate, type GateFleet } from "#gtm/simulation/recorded/affinity-gate.ts";
import type { FleetRegion, Scenario } from "#gtm/simulation/scenario.ts";
import { VISIT, type Visit } from "#gtm/simulation/traffic-in-order.ts";
import { type Spread, trafficStatistics } from "#gtm/simulation/traffic-statistics.ts";
import type { PlannedScenario } from "./simulate-plan.ts";

type Build = { readonly scenarioOf: (planned: PlannedScenario) => { readonly scenario: Scenario } };

/** Enough for every figure to stand. */
const DESCRIBED: Visit = { ...VISIT, mostTurns: 20_000 };

/** The traffic of a planned scenario as its first seed draws it. @throws {OperationalError} GTM_TRACE_INVALID */
export const describedText = (planned: PlannedScenario, build: Build): string => {
  const { scenario } = build.scenarioOf(planned);
  const seed = planned.seeds[0] ?? 1;
  const found = trafficStatistics(scenario.traffic(seed), DESCRIBED);
  const gate = affinityGate(scenario.traffic(seed), gateFleet(scenario.fleet), DESCRIBED);
  return [
    `${planned.name}, seed ${seed}`,
    `${found.turns} turns of ${found.conversations} conversations in ${Math.round(found.seconds)} s`,
    `turns a conversation       ${found.turnsPerConversation.toFixed(2)}`,
    `with a second turn         ${percent(found.continuedFraction)}`,
    `prompt tokens in caches    ${percent(found.reusedFraction)} with one that forgets nothing; first turns ${percent(found.reusedByFirstFraction)}`,
    "                               mean      p50      p90      p95      p99",
    spreadLine("prompt, tokens", found.prompt),
    spreadLine("first prompt, tokens", found.firstPrompt),
    spreadLine("answer, tokens", found.output),
    spreadLine("growth a turn, tokens", found.growth),
    spreadLine("question to question, s", found.gap),
    ...gateLines(gate),
    "",
  ].join("\n");
};

const gateFleet = (fleet: readonly FleetRegion[]): GateFleet => {
  const replicas = fleet.reduce((sum, one) => sum + one.replicas, 0);
  const mean = (of: (one: FleetRegion) => number): number =>
    fleet.reduce((sum, one) => sum + one.replicas * of(one), 0) / Math.max(1, replicas);
  return {
    ...{ regions: fleet.length, replicas },
    speed: { linMs: mean(({ engine }) => engine.speed.linMs), attnMs: mean(({ engine }) => engine.speed.attnMs) },
    kvTokens: fleet.reduce((sum, one) => sum + one.replicas * one.engine.kvTokens, 0),
  };
};

const gateLines = ({ helps, reasons }: AffinityGate): readonly string[] => [
  `Affinity ${helps ? "helps" : "does not help"} this traffic:`,
  ...reasons.map((reason) => `  ${reason}`),
];

const percent = (fraction: number): string => `${(fraction * 100).toFixed(1)} %`;

const spreadLine = (name: string, { mean, p50, p90, p95, p99 }: Spread): string =>
  `${name.padEnd(26)} ${[mean, p50, p90, p95, p99].map((one) => one.toFixed(0).padStart(8)).join(" ")}`;
