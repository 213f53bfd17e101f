/** A small report for tests: two scenarios, in the second of which a rival cannot keep up. */
import { type PlayedPolicy, type Report, type ScenarioReport, scenarioReport } from "#gtm/simulation/report/report.ts";
import { aTally, aTurn } from "./records.ts";

/** Two seeds of thirty turns each. */
const aPlayed = (policy: string, kind: PlayedPolicy["kind"], ttftMs: number, queuedMs = 0): PlayedPolicy => ({
  ...{ policy, kind, parameters: {} },
  runs: [1, 2].map((seed) => ({
    seed,
    tally: aTally(
      Array.from({ length: 30 }, (_, at) => {
        const times = { askedAtMs: 100_000 + at * 10_000, ttftMs: ttftMs * (1 + at / 50) + seed * 100 };
        return aTurn({
          conversation: at % 10,
          turn: 1 + Math.floor(at / 10),
          region: at % 2,
          queuedMs: at * queuedMs,
          ...times,
        });
      }),
    ),
    unfinished: 0,
  })),
});

const aScenario = (name: string, isOpenLoop: boolean): Omit<ScenarioReport, "policies"> => ({
  name,
  says: `All that is ${name}.`,
  setting: { traffic: "chat", load: "80 %" },
  regions: [
    { id: "us-east-1", replicas: 1 },
    { id: "ap-southeast-1", replicas: 1 },
  ],
  ...{ isOpenLoop, warmUpMs: 100_000, measuredMs: 300_000 },
  happenings: [{ atMs: 200_000, says: "us-east-1 fails" }],
});

export const aReport = (name = "steady"): Report => ({
  ...{ format: "gtm-simulation", version: 1, isComplete: true },
  scenarios: [
    scenarioReport(aScenario(name, false), [
      aPlayed("gorgo-like", "rival", 1_200),
      aPlayed("sticky", "rival", 2_000),
      aPlayed("gtm", "ours", 1_000),
      aPlayed("oracle", "oracle", 990),
    ]),
    scenarioReport(aScenario("overload", true), [
      aPlayed("gorgo-like", "rival", 5_200),
      aPlayed("drowned", "rival", 20_000, 1_000),
      aPlayed("gtm", "ours", 5_000),
    ]),
  ],
});
