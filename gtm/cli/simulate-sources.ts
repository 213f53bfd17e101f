/** Where a plan's traffic comes from: the generator, a trace, or what a GTM has decided; and what each of them cannot be asked for. */
import { readDecisions } from "#gtm/simulation/recorded/recorded-decisions.ts";
import { scenarioNamed } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated, recorded } from "#gtm/simulation/scenarios/sources.ts";
import type { TrafficSource } from "#gtm/simulation/scenarios/volume.ts";
import type { RecordedTrace } from "#gtm/simulation/traces/recorded-trace.ts";
import { TRACE_OPTIONS } from "#gtm/simulation/traces/trace-options.ts";
import { traceTraffic } from "#gtm/simulation/traces/trace-traffic.ts";
import type { PlannedScenario } from "./simulate-plan.ts";
import { recordedTraceOf, traceFileAt } from "./simulate-trace-file.ts";

export const DECISIONS = "decisions:";

/** @throws {OperationalError} GTM_TRACE_INVALID */
export const sourceOf = ({ traffic, load }: Pick<PlannedScenario, "traffic" | "load">): TrafficSource => {
  if (traffic === "chat" || traffic === "agents" || traffic === "retrieval") return generated(traffic);
  if (traffic.startsWith(DECISIONS)) {
    const { trace } = readDecisions(traceFileAt(traffic.slice(DECISIONS.length)), null);
    return load === null ? asRecorded(trace) : recorded(trace, { name: "decisions", model: "70b", part: "all" });
  }
  const reader = traffic.slice(0, traffic.indexOf(":"));
  const model = reader === "ragpulse" ? "8b" : "70b";
  return recorded(recordedTraceOf(traffic), { name: reader, model, part: "all" });
};

/** As much as there was, over and over. */
const asRecorded = (trace: RecordedTrace): TrafficSource => ({
  says: "decisions, as much as recorded",
  model: "70b",
  loop: "open",
  create: ({ seed, cities }) => traceTraffic(trace, { ...TRACE_OPTIONS, seed, cities, isRepeated: true }),
});

/** @returns null, or what this traffic cannot do, in words for a person */
export const faultOfTraffic = (planned: PlannedScenario, { says, loop }: TrafficSource): string | null => {
  const hasTides = scenarioNamed(planned.scenario)?.difference.demand !== undefined;
  const isTrace = planned.traffic.includes(":");
  if (planned.users !== null && hasTides) {
    return `${planned.name}: demand that changes needs a load: users who wait for their answers are always as many`;
  }
  if (planned.users !== null && isTrace && loop === "open") {
    return `${planned.name}: ${says} says when its turns come, so give a load instead of users`;
  }
  if (hasTides && isTrace && loop === "closed") {
    return `${planned.name}: ${says} does not say when its sessions come, so demand cannot change`;
  }
  return hasTides && planned.load === null && planned.traffic.startsWith(DECISIONS)
    ? `${planned.name}: demand that changes needs a load`
    : null;
};
