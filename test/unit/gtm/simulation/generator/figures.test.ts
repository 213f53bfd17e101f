/** Generated traffic has the figures of the traces that it stands for, as generator/README.md prints them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES } from "#gtm/simulation/cities.ts";
import { createTraffic } from "#gtm/simulation/generator/create-traffic.ts";
import type { GeneratorOptions, TrafficKind } from "#gtm/simulation/generator/generator-options.ts";
import { VISIT, type Visit } from "#gtm/simulation/traffic-in-order.ts";
import { type TrafficStatistics, trafficStatistics } from "#gtm/simulation/traffic-statistics.ts";

type Figure = {
  readonly name: string;
  readonly of: (found: TrafficStatistics) => number;
  readonly trace: number;
  readonly within: number;
};

const figure = (name: string, trace: number, within: number, of: Figure["of"]): Figure => ({ name, of, trace, within });

/** What trafficStatistics counts of the traces themselves; `within`: as a fraction of it. */
const CASES: readonly {
  readonly kind: TrafficKind;
  readonly arrivals: GeneratorOptions["arrivals"];
  readonly visit: Partial<Visit>;
  readonly figures: readonly Figure[];
}[] = [
  {
    kind: "chat",
    arrivals: { kind: "open", turnsPerSecond: 3.271, demand: null },
    visit: { untilMs: 2_400_000 },
    figures: [
      figure("turns", 7_851, 0.06, ({ turns }) => turns),
      figure("turns a conversation", 1.441, 0.06, (found) => found.turnsPerConversation),
      figure("mean prompt", 12_428, 0.1, ({ prompt }) => prompt.mean),
      figure("p95 of prompts", 40_411, 0.12, ({ prompt }) => prompt.p95),
      figure("mean answer", 347, 0.05, ({ output }) => output.mean),
      figure("p50 of growth", 492, 0.1, ({ growth }) => growth.p50),
      figure("p50 of gaps", 123, 0.12, ({ gap }) => gap.p50),
      figure("reused", 0.3575, 0.08, (found) => found.reusedFraction),
    ],
  },
  {
    kind: "agents",
    arrivals: { kind: "closed", users: 400 },
    visit: { mostTurns: 40_000 },
    figures: [
      figure("mean prompt", 88_569, 0.1, ({ prompt }) => prompt.mean),
      figure("mean answer", 450, 0.05, ({ output }) => output.mean),
      figure("p50 of growth", 732, 0.08, ({ growth }) => growth.p50),
      figure("p50 of gaps", 20, 0.1, ({ gap }) => gap.p50),
      figure("reused", 0.9447, 0.01, (found) => found.reusedFraction),
    ],
  },
  {
    kind: "retrieval",
    arrivals: { kind: "open", turnsPerSecond: 1.196, demand: null },
    visit: { mostTurns: 5_167 },
    figures: [
      figure("turns a conversation", 1.78, 0.07, (found) => found.turnsPerConversation),
      figure("mean prompt", 2_937, 0.03, ({ prompt }) => prompt.mean),
      figure("mean answer", 277, 0.05, ({ output }) => output.mean),
      figure("reused", 0.314, 0.03, (found) => found.reusedFraction),
    ],
  },
];

for (const { kind, arrivals, visit, figures } of CASES) {
  describe(`generated ${kind}`, () => {
    const traffic = createTraffic(kind, {
      seed: 1,
      cities: CITIES,
      arrivals,
      blockTokens: null,
      longestPromptTokens: null,
    });
    const found = trafficStatistics(traffic, { ...VISIT, ...visit });
    for (const { name, of, trace, within } of figures) {
      it(`has the trace's ${name}: ${trace}, within ${100 * within} %`, () => {
        assert.ok(Math.abs(of(found) / trace - 1) <= within, `${of(found)}`);
      });
    }
  });
}
