import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prefillMs } from "#gtm/domain/serving.ts";
import type { City } from "#gtm/simulation/cities.ts";
import { citiesWith, crowdIn, EVEN, followTheSun, UNEVEN } from "#gtm/simulation/scenarios/demand.ts";
import { H100, L4 } from "#gtm/simulation/scenarios/fleet.ts";
import { createScenario, SCENARIOS, scenarioNamed } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated } from "#gtm/simulation/scenarios/sources.ts";
import type { TrafficSource } from "#gtm/simulation/scenarios/volume.ts";
import { AWS_REGIONS, WORLD_CITIES } from "#gtm/simulation/scenarios/world-cities.ts";
import { visitTurns } from "#gtm/simulation/traffic-in-order.ts";

/** Each turn 4 000 tokens, as many a second as are wished. */
const wished: Parameters<TrafficSource["create"]>[0][] = [];
const flat = (loop: TrafficSource["loop"]): TrafficSource => ({
  says: "flat",
  model: "70b",
  loop,
  create: (wish) => {
    wished.push(wish);
    return {
      blockTokens: 512,
      *clients() {
        const users = wish.arrivals.kind === "closed" ? wish.arrivals.users : 400;
        for (let number = 0; number < users; number++) {
          let turns = 0;
          yield {
            ...{ city: wish.cities[0] as City, lastMileMs: 10, startsAtMs: 0 },
            next: () => {
              turns += 1;
              const asks = { kind: "after" as const, thinkMs: 40_000 };
              return {
                conversation: number,
                parent: null,
                turn: turns,
                promptTokens: 4_000,
                outputTokens: 1,
                blocks: [],
                asks,
              };
            },
          };
        }
      },
    };
  },
});

const options = {
  regions: 3,
  source: flat("open"),
  volume: { kind: "load", load: 0.8 },
  warmUpMs: 1_000,
  measuredMs: 9_000,
} as const;
const named = (name: string) => {
  const found = scenarioNamed(name);
  assert.ok(found, name);
  return found;
};

describe("the scenarios", () => {
  for (const regions of [3, 6] as const) {
    for (const scenario of SCENARIOS) {
      it(`${scenario.name} stands with ${regions} regions, and all that happens in it happens while it is measured`, () => {
        const made = createScenario(scenario, { ...options, regions });
        assert.equal(made.fleet.length, regions);
        assert.equal(
          made.fleet.reduce((sum, { replicas }) => sum + replicas, 0),
          12,
        );
        for (const city of made.cities) {
          for (const region of made.fleet.keys()) assert.ok(made.rttMs(city, region) > 0, `${city.name} to ${region}`);
        }
        for (const { atMs, region } of made.happenings) {
          assert.ok(atMs > 1_000 && atMs < 10_000 && region < regions);
        }
      });
    }
  }

  it("ask for the share of what all replicas could prefill without a cache", () => {
    createScenario(named("steady"), options);
    const scenario = createScenario(named("steady"), options);
    scenario.traffic(7);
    const arrivals = wished.at(-1)?.arrivals;
    const eachMs = prefillMs(H100.speed, 4_000, 4_000);
    assert.equal(wished.at(-1)?.seed, 7);
    assert.ok(arrivals?.kind === "open");
    assert.ok(Math.abs((arrivals.turnsPerSecond * eachMs) / 12_000 - 0.8) < 1e-9, `${arrivals.turnsPerSecond}`);
  });

  it("count slower replicas as what they can do", () => {
    const turnsPerSecond = (name: string): number => {
      createScenario(named(name), options).traffic(1);
      const arrivals = wished.at(-1)?.arrivals;
      return arrivals?.kind === "open" ? arrivals.turnsPerSecond : Number.NaN;
    };
    // A third of the replicas at 9 700 tokens/s, two thirds at 5 300.
    const share = turnsPerSecond("unequal-gpus") / turnsPerSecond("steady");
    assert.ok(Math.abs(share - (9_700 + 2 * 5_300) / (3 * 9_700)) < 1e-9, `${share}`);
  });

  it("are asked by so many users as ask that often, where each waits for the answers", () => {
    createScenario(named("steady"), { ...options, source: flat("closed") }).traffic(1);
    const arrivals = wished.at(-1)?.arrivals;
    assert.ok(arrivals?.kind === "closed");
    // Each asks once in 50 s: 40 of thinking, 10 for the answer.
    const expected = (0.8 * 12_000 * 50) / prefillMs(H100.speed, 4_000, 4_000);
    assert.ok(Math.abs(arrivals.users / expected - 1) < 0.03, `${arrivals.users} users, expected ${expected}`);
    createScenario(named("steady"), { ...options, volume: { kind: "users", users: 5 } }).traffic(1);
    assert.deepEqual(wished.at(-1)?.arrivals, { kind: "closed", users: 5 });
  });

  it("refuse tides of users who wait for their answers", () => {
    const agents = createScenario(named("flash-crowd"), {
      ...{ ...options, source: generated("agents") },
      volume: { kind: "users", users: 5 },
    });
    assert.throws(() => agents.traffic(1), /needs a load, not users/);
  });
});

describe("the scenarios' world", () => {
  it("has the first three regions nearest to the cities of their areas", () => {
    const homes = { americas: "us-east-1", "europe-africa": "eu-central-1", asia: "ap-southeast-1" } as const;
    for (const { name, area, rttsMs } of WORLD_CITIES) {
      const rtt = (region: (typeof AWS_REGIONS)[number]) => rttsMs[AWS_REGIONS.indexOf(region)] ?? Number.NaN;
      const others = Object.values(homes).filter((one) => one !== homes[area]);
      for (const other of others) assert.ok(rtt(homes[area]) <= rtt(other), `${name} is nearer to ${other}`);
    }
    assert.equal(new Set(WORLD_CITIES.map(({ name }) => name)).size, WORLD_CITIES.length);
  });

  it("gives each area its share of the demand", () => {
    for (const shares of [EVEN, UNEVEN]) {
      const cities = citiesWith(shares);
      for (const area of ["americas", "europe-africa", "asia"] as const) {
        const sum = cities.filter((city) => city.area === area).reduce((total, { weight }) => total + weight, 0);
        assert.ok(Math.abs(sum - shares[area]) < 1e-9);
      }
    }
  });

  it("asks most in the afternoon and least before dawn, by each city's own hour", () => {
    const tokyo = WORLD_CITIES.find(({ name }) => name === "Tokyo") as City;
    const hour = (local: number) => ((local - 139.75 / 15 + 24) % 24) * 150_000;
    assert.equal(followTheSun(tokyo, hour(4.5)), 0.068);
    assert.equal(followTheSun(tokyo, hour(15.5)), 1.638);
  });

  it("has a crowd in one area for a while", () => {
    const crowd = crowdIn("asia", 100, 200);
    const [tokyo, paris] = ["Tokyo", "Paris"].map((name) => WORLD_CITIES.find((one) => one.name === name) as City);
    assert.deepEqual(
      [99, 100, 199, 200].map((ms) => crowd(tokyo as City, ms)),
      [1, 3, 3, 1],
    );
    assert.equal(crowd(paris as City, 150), 1);
  });

  it("has a small model on small GPUs for retrieval, whose prompts fit into its memory", () => {
    const made = createScenario(named("steady"), { ...options, source: generated("retrieval") });
    assert.equal(made.fleet[0]?.engine, L4);
    let longest = 0;
    visitTurns(
      made.traffic(1),
      { untilMs: 600_000, mostTurns: 2_000, answerMs: 1_000 },
      ({ promptTokens, outputTokens }) => {
        longest = Math.max(longest, promptTokens + outputTokens);
      },
    );
    assert.ok(longest > 1_000 && longest < L4.kvTokens, `${longest}`);
  });
});
