import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES, type City } from "#gtm/simulation/cities.ts";
import { createAgenda } from "#gtm/simulation/clock.ts";
import { MODERATE_LOAD, moderateLoad } from "#gtm/simulation/moderate-load.ts";
import { createPlayedKnown } from "#gtm/simulation/play-known.ts";
import { createPlayedRegion } from "#gtm/simulation/play-region.ts";
import type { Asked } from "#gtm/simulation/rival.ts";
import type { Leading } from "#gtm/simulation/scenario.ts";
import { steered } from "#gtm/simulation/steered.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { aRequest } from "./serving/requests.ts";

const [EU, US, AP] = [0, 1, 2];
const paris = CITIES.find(({ name }) => name === "Paris") as City;
const ask = (promptTokens: number, wish: Partial<Asked> = {}): Asked => ({
  ...{ client: 1, conversation: 5, parent: null, turn: 1, city: paris, lastMileMs: 10, promptTokens },
  ...{ outputTokens: 100, blocks: [], previous: null, idleMs: Number.POSITIVE_INFINITY },
  ...wish,
});

const setting = (leading: Leading = { kind: "redirect", gtms: 1, sharesSends: false }, policy = DEFAULT_POLICY) => {
  const agenda = createAgenda();
  const scenario = { ...moderateLoad({ ...MODERATE_LOAD, replicasPerRegion: 2 }), leading };
  const regions = scenario.fleet.map((fleet, seed) => createPlayedRegion(fleet, "affinity", seed));
  const known = createPlayedKnown(agenda, scenario, regions);
  const rival = steered({ policy })({ agenda, scenario, known, seed: 1, regions });
  const passTime = (ms: number): void => {
    agenda.runUntil(agenda.nowMs() + ms);
    for (const region of regions) region.advanceTo(agenda.nowMs());
  };
  /** So many prompts of 4 000 tokens on each replica. */
  const fill = (index: number, count: number): void => {
    const region = regions[index];
    for (let i = 0; i < count * 2; i++) {
      region?.submit(aRequest({ promptTokens: 4_000, conversation: 100 + index * 1_000 + i }), agenda.nowMs(), i % 2);
    }
  };
  const choose = (turn: Asked) => rival.choose(turn)?.region;
  return { rival, choose, passTime, fill };
};

describe("this GTM in a simulation, for a conversation in Paris", () => {
  it("places the first turn in Frankfurt, keeps the next there, and says what it expects", () => {
    const { rival, passTime } = setting();
    passTime(1_500);
    const first = rival.choose(ask(12_000));
    assert.deepEqual([first?.region, first?.verdict, first?.prediction?.queueMs], [EU, "placed", 0]);
    assert.ok((first?.prediction?.ttftMs ?? 0) > 1_500, "12 000 tokens take 1.5 s at least");
    passTime(20_000);
    const next = rival.choose(ask(12_500, { previous: EU }));
    assert.deepEqual([next?.region, next?.verdict], [EU, "pinned"]);
    assert.ok((next?.prediction?.ttftMs ?? 0) < 1_500, "what was computed is held");
  });

  it("leaves Frankfurt when a report says that 24 prompts wait at each of its replicas, more than recomputing 12 000 tokens", () => {
    const { choose, passTime, fill } = setting();
    passTime(1_500);
    choose(ask(12_000));
    passTime(10_000);
    // What was served lately tells an agent how much a waiting request has to compute.
    fill(EU, 1);
    passTime(2_000);
    fill(EU, 24);
    assert.equal(choose(ask(12_500)), EU, "no report has told yet");
    passTime(1_000);
    assert.equal(choose(ask(13_000)), US);
  });

  it("goes to the idle region when both nearer ones are busy", () => {
    const { choose, passTime, fill } = setting();
    passTime(1_500);
    for (const region of [EU, US]) fill(region, 1);
    passTime(2_000);
    for (const region of [EU, US]) fill(region, 24);
    passTime(1_000);
    assert.equal(choose(ask(2_000)), AP);
  });

  it("counts its own sends before a report knows of them: not all of twelve long prompts go to Frankfurt", () => {
    const { choose, passTime } = setting();
    passTime(1_500);
    const chosen = Array.from({ length: 12 }, (_, conversation) => choose(ask(40_000, { conversation })));
    assert.equal(chosen[0], EU);
    assert.equal(new Set(chosen).size, 3, `${chosen}`);
  });

  it("begins a task of an agent where its parent's context is", () => {
    const { choose, passTime, fill } = setting();
    passTime(1_500);
    for (const region of [EU, US]) fill(region, 1);
    passTime(2_000);
    for (const region of [EU, US]) fill(region, 24);
    passTime(1_000);
    assert.equal(choose(ask(30_000, { conversation: 1 })), AP);
    // The queues have drained; only the context speaks for the far region.
    passTime(60_000);
    assert.equal(choose(ask(30_500, { conversation: 2, parent: 1 })), AP);
    assert.equal(choose(ask(30_500, { conversation: 3 })), EU);
  });

  it("decides by the policy that it is given: no margin of a minute is ever saved", () => {
    const { choose, passTime, fill } = setting(undefined, { ...DEFAULT_POLICY, marginMs: 60_000 });
    passTime(1_500);
    choose(ask(12_000));
    passTime(10_000);
    fill(EU, 1);
    passTime(2_000);
    fill(EU, 24);
    passTime(1_000);
    assert.equal(choose(ask(13_000)), EU);
  });
});

describe("several GTMs", () => {
  /** Of twelve clients with a long prompt each, within a report's time. */
  const sentToFrankfurt = (sharesSends: boolean): number => {
    const { choose, passTime } = setting({ kind: "redirect", gtms: 3, sharesSends });
    passTime(1_100);
    let count = 0;
    for (let client = 0; client < 12; client++) {
      if (choose(ask(40_000, { client, conversation: client })) === EU) count += 1;
      passTime(70);
    }
    return count;
  };
  it("send more to the nearest region where they do not know of each other's sends", () => {
    const [shared, alone] = [sentToFrankfurt(true), sentToFrankfurt(false)];
    assert.ok(alone > shared && shared >= 3, `${alone} and ${shared} of 12`);
  });
});

describe("names alone", () => {
  it("are answered for a city, with the TTL of production's decision", () => {
    const { rival, passTime } = setting({ kind: "dns", resolversPerCity: 2, areBusy: false });
    passTime(1_500);
    assert.deepEqual(rival.resolve?.(paris), { region: EU, ttlMs: 20_000 });
  });
});
