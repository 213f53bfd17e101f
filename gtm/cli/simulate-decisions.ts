/** What recorded decisions came to, and whether affinity can help such traffic at all: told before they are replayed. */
import { affinityGate } from "#gtm/simulation/recorded/affinity-gate.ts";
import { readDecisions } from "#gtm/simulation/recorded/recorded-decisions.ts";
import { recordedOutcome } from "#gtm/simulation/recorded/recorded-outcome.ts";
import { VISIT } from "#gtm/simulation/traffic-in-order.ts";
import { count, milliseconds } from "./quantity.ts";
import type { PlannedScenario } from "./simulate-plan.ts";
import type { BuiltScenario } from "./simulate-play.ts";
import { DECISIONS } from "./simulate-sources.ts";
import { traceFileAt } from "./simulate-trace-file.ts";

/** @returns lines for a person @throws {OperationalError} GTM_TRACE_INVALID */
export const decisionsText = ({ traffic, seeds }: PlannedScenario, { scenario }: BuiltScenario): string => {
  const path = traffic.slice(DECISIONS.length);
  const { verdicts, regions, turns, predictedTtftMs } = recordedOutcome(traceFileAt(path));
  const { model, leftOut } = readDecisions(traceFileAt(path), null);
  const { fleet } = scenario;
  const { helps, reasons } = affinityGate(
    scenario.traffic(seeds[0] ?? 1),
    {
      regions: fleet.length,
      replicas: sum(fleet.map(({ replicas }) => replicas)),
      speed: fleet[0]?.engine.speed ?? { linMs: 0, attnMs: 0 },
      kvTokens: sum(fleet.map(({ replicas, engine }) => replicas * engine.kvTokens)),
    },
    VISIT,
  );
  return [
    `Recorded: ${count(turns)} turns; ${shares(verdicts)}; ${shares(regions)}; predicted TTFT ${milliseconds(predictedTtftMs)} on average.`,
    `Replayed: turns of ${model}; left out: ${count(leftOut.otherModels)} of other models, ${count(leftOut.withoutConversation)} without a conversation, ${count(leftOut.dnsAnswers)} DNS answers.`,
    `Affinity ${helps ? "helps" : "does not help"} this traffic on this fleet: ${reasons.join(" ")}`,
    "",
  ].join("\n");
};

const shares = (counts: readonly (readonly [name: string, turns: number])[]): string =>
  counts.map(([name, turns]) => `${name} ${count(turns)}`).join(", ");
const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
