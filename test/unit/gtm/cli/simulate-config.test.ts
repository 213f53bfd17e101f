import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Known, planOf, SimulateConfig } from "#gtm/cli/simulate-config.ts";
import { jobsOf, type Plan } from "#gtm/cli/simulate-plan.ts";
import { faultOfParameters } from "#gtm/cli/simulate-policies.ts";

const KNOWN: Known = {
  scenarios: ["steady", "drain"],
  policies: ["sticky", "gorgo-like", "gtm"],
  faultOfParameters,
};
const planned = (config: object): Plan => {
  const plan = planOf(SimulateConfig.parse({ version: 1, ...config }), KNOWN);
  assert.ok("scenarios" in plan, JSON.stringify(plan));
  return plan;
};
const faultOf = (config: object): string => {
  const plan = planOf(SimulateConfig.parse({ version: 1, ...config }), KNOWN);
  assert.ok("fault" in plan);
  return plan.fault;
};

describe("a plan of simulations", () => {
  it("plays all policies by six seeds for a quarter of an hour where nothing is said", () => {
    const [scenario] = planned({ scenarios: ["steady"] }).scenarios;
    assert.equal(scenario?.name, "steady: chat 80 %");
    assert.deepEqual(
      scenario?.policies.map(({ name }) => name),
      KNOWN.policies,
    );
    assert.deepEqual(scenario?.seeds, [1, 2, 3, 4, 5, 6]);
    assert.equal(scenario?.measuredMs, 900_000);
  });
  it("lets a scenario say otherwise than the whole, load and users instead of each other", () => {
    const { scenarios } = planned({
      ...{ load: 0.6, seeds: 2, first_seed: 40, duration: "5m" },
      scenarios: ["drain", { scenario: "steady", traffic: "agents", users: 108, seeds: 3, name: "U108" }],
    });
    assert.deepEqual(
      scenarios.map(({ name, load, users, seeds, measuredMs }) => ({ name, load, users, seeds, measuredMs })),
      [
        { name: "drain: chat 60 %", load: 0.6, users: null, seeds: [40, 41], measuredMs: 300_000 },
        { name: "U108", load: null, users: 108, seeds: [40, 41, 42], measuredMs: 300_000 },
      ],
    );
  });
  it("takes all for every name", () => {
    const { scenarios } = planned({ scenarios: ["all"], policies: ["all"] });
    assert.deepEqual(
      scenarios.map(({ scenario }) => scenario),
      KNOWN.scenarios,
    );
    assert.equal(scenarios[0]?.policies.length, KNOWN.policies.length);
  });
  it("plays decisions as often as they were made, unless a load is wanted", () => {
    const names = [{ scenario: "steady" }, { scenario: "steady", load: 1.2 }];
    const { scenarios } = planned({ traffic: "decisions:log.jsonl", scenarios: names });
    assert.deepEqual(
      scenarios.map(({ name, load }) => [name, load]),
      [
        ["steady: decisions as recorded", null],
        ["steady: decisions 120 %", 1.2],
      ],
    );
  });
  it("plays all policies of a seed before the next seed", () => {
    const jobs = jobsOf(planned({ scenarios: ["steady"], policies: ["sticky", "gtm"], seeds: 2 }));
    assert.deepEqual(
      jobs.map(({ policy, seed }) => [policy, seed]),
      [
        [0, 1],
        [1, 1],
        [0, 2],
        [1, 2],
      ],
    );
  });
  it("has a policy twice under names of its own, with other parameters", () => {
    const policies = ["gtm", { policy: "gtm", name: "gtm, no margin", parameters: { marginMs: 0 } }];
    const [scenario] = planned({ scenarios: ["steady"], policies }).scenarios;
    assert.deepEqual(scenario?.policies[1], { policy: "gtm", name: "gtm, no margin", parameters: { marginMs: 0 } });
  });

  const faults: readonly (readonly [when: string, config: object, says: RegExp])[] = [
    ["a scenario is unknown", { scenarios: ["stedy"] }, /no scenario "stedy"; there are steady, drain/],
    [
      "a policy is unknown",
      { scenarios: ["steady"], policies: ["x"] },
      /no policy "x"; there are sticky, gorgo-like, gtm/,
    ],
    ["there are a load and users", { scenarios: [{ scenario: "steady", load: 1, users: 2 }] }, /a load and users/],
    ["a name stands twice", { scenarios: ["steady", "steady"] }, /two scenarios have the name steady: chat 80 %/],
    ["a policy stands twice", { scenarios: ["steady"], policies: ["gtm", "gtm"] }, /two policies of the name gtm/],
    [
      "a parameter is unknown",
      { scenarios: ["steady"], policies: [{ policy: "gtm", parameters: { margin: 1 } }] },
      /gtm has no parameter "margin"; it has marginMs, marginFraction/,
    ],
    [
      "a parameter is a text instead of a number",
      { scenarios: ["steady"], policies: [{ policy: "gtm", parameters: { marginMs: "1" } }] },
      /marginMs is 50 usually, expected a number of 0 or more, found "1"/,
    ],
    [
      "a parameter is none of its words",
      { scenarios: ["steady"], policies: [{ policy: "gorgo-like", parameters: { queue: "guessed" } }] },
      /queue is "reported" usually, expected reported or tracked or played, found "guessed"/,
    ],
  ];
  for (const [when, config, says] of faults) it(`is refused when ${when}`, () => assert.match(faultOf(config), says));
});
