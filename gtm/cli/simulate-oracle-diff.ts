/** `gtm simulate --oracle-diff`: where our decisions lose against the greedy oracle's, and which term of the cost misled. */
import { diffAgainstOracle, type Misled, type OracleDiff, type Regret } from "#gtm/simulation/oracle-diff.ts";
import type { Scenario } from "#gtm/simulation/scenario.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import type { Column } from "./cell.ts";
import type { PlannedScenario } from "./simulate-plan.ts";
import { table } from "./table.ts";

type Build = { readonly scenarioOf: (planned: PlannedScenario) => { readonly scenario: Scenario } };

const OURS = "gtm";
const TERMS: readonly (keyof Misled)[] = ["queueMs", "cacheMs", "networkMs", "memoryMs", "otherPricesMs", "believedMs"];
const COLUMNS: readonly Column[] = [
  { header: "turns" },
  ...["decisions", "differ", "regret", "queue", "cache", "network", "memory", "other", "believed"].map(
    (header): Column => ({ header, align: "right" }),
  ),
];

/** One table a seed; ms, on average over all decisions of the row. @throws {OperationalError} GTM_TRACE_INVALID */
export const oracleDiffText = (planned: PlannedScenario, build: Build, isColourful: boolean): string => {
  const { scenario } = build.scenarioOf(planned);
  const changed = planned.policies.find(({ policy }) => policy === OURS)?.parameters ?? {};
  const policy: Policy = { ...DEFAULT_POLICY, ...changed };
  return planned.seeds
    .map((seed) => {
      const diff = diffAgainstOracle(scenario, { policy, seed });
      const rows = [rowOf("first", diff.first), rowOf("later", diff.later), rowOf("all", diff.all)];
      return `${planned.name}, seed ${seed}\n${table(COLUMNS, rows, isColourful)}${errorsOf(diff)}`;
    })
    .join("\n");
};

const rowOf = (turns: string, { decisions, differing, regretMs, misled }: Regret): readonly string[] => [
  turns,
  String(decisions),
  `${((100 * differing) / Math.max(1, decisions)).toFixed(1)} %`,
  regretMs.toFixed(1),
  ...TERMS.map((term) => misled[term].toFixed(1)),
];

const errorsOf = ({ queueErrorMs, cacheErrorMs }: OracleDiff): string =>
  [
    `queue of the region chosen: ${errorOf(queueErrorMs)}`,
    `prefill there: ${errorOf(cacheErrorMs)}`,
    "Regret: how much sooner the first token would have come from the oracle's region. The terms add up to it: by how much each was",
    "misjudged between the two regions, or priced; believed is what our own numbers said in sum, below 0 in favour of our choice.",
    "",
  ].join("\n");

const errorOf = ({ bias, meanAbsolute, trueMean }: OracleDiff["queueErrorMs"]): string =>
  `${trueMean.toFixed(0)} ms, predicted wrong by ${meanAbsolute.toFixed(0)} ms on average (${bias < 0 ? "" : "+"}${bias.toFixed(0)} ms in sum)`;
