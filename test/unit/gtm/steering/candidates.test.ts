/** Every exclusion: what brings it about, and which one is named where several apply. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Exclusion } from "#gtm/domain/decision.ts";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import {
  aConversation,
  aRegion,
  decideIn,
  MODEL,
  type RegionWish,
  regionId,
  type Situation,
} from "#test/support/builders.ts";

type Case = {
  readonly when: string;
  readonly region?: RegionWish;
  readonly given?: Partial<Situation>;
  readonly expected: Exclusion | null;
};

const held = aConversation({ home: "frankfurt", contextTokens: 1_000 });
const cases: readonly Case[] = [
  { when: "nothing is wrong", expected: null },
  {
    when: "the pool has other members",
    given: { pool: { regions: [regionId("paris")] } },
    expected: { reason: "not-a-member" },
  },
  { when: "it is ordered down", region: { admin: "down" }, expected: { reason: "down", cause: "ordered" } },
  { when: "its probe fails", region: { health: "unhealthy" }, expected: { reason: "down", cause: "probe" } },
  { when: "its probe fails, but it is forced up", region: { health: "unhealthy", admin: "forced-up" }, expected: null },
  {
    when: "it drains softly and holds nothing",
    region: { admin: "drain-new" },
    expected: { reason: "draining", admin: "drain-new" },
  },
  {
    when: "it drains softly and holds the conversation",
    region: { admin: "drain-new" },
    given: { conversation: held },
    expected: null,
  },
  {
    when: "it drains softly and is only a cell's last answer",
    region: { admin: "drain-new" },
    given: { query: { kind: "cell" } },
    expected: { reason: "draining", admin: "drain-new" },
  },
  {
    when: "it drains all",
    region: { admin: "drain-all" },
    given: { conversation: held },
    expected: { reason: "draining", admin: "drain-all" },
  },
  {
    when: "it never reported",
    region: { reportAgeMs: null, placement: null },
    expected: { reason: "report-expired", ageMs: null },
  },
  {
    when: "it does not place the model",
    region: { placement: null },
    expected: { reason: "model-not-placed", model: MODEL },
  },
  {
    when: "its engine is down",
    region: { placement: { state: "down" } },
    expected: { reason: "model-not-placed", model: MODEL },
  },
  {
    when: "the model sleeps while another region is warm",
    region: { placement: { state: "asleep" } },
    given: { regions: [aRegion("paris")] },
    expected: { reason: "model-not-placed", model: MODEL },
  },
  {
    when: "the model sleeps and no region is warm",
    region: { placement: { state: "asleep", replicas: [] } },
    expected: null,
  },
  {
    when: "the model is on disk and fits",
    region: { placement: { state: "on-disk", replicas: [] }, gpuMemoryFreeBytes: 141e9 },
    expected: null,
  },
  {
    when: "the model is on disk and does not fit",
    region: { placement: { state: "on-disk", replicas: [] }, gpuMemoryFreeBytes: 140e9 },
    expected: { reason: "no-room", needBytes: 141e9, freeBytes: 140e9 },
  },
  {
    when: "the model is on disk and nobody knows how much memory is free",
    region: { placement: { state: "on-disk", replicas: [] }, gpuMemoryFreeBytes: null },
    expected: { reason: "no-room", needBytes: 141e9, freeBytes: null },
  },
  { when: "its report is 30 s old", region: { reportAgeMs: 30_000 }, expected: null },
  {
    when: "its report is over 30 s old",
    region: { reportAgeMs: 30_001 },
    expected: { reason: "report-expired", ageMs: 30_001 },
  },
  {
    when: "its report is old, but it is forced up",
    region: { reportAgeMs: 30_001, admin: "forced-up" },
    expected: null,
  },
  {
    when: "the prompt is longer than its limit",
    region: { placement: { contextLimitTokens: 8_192 } },
    given: { query: { promptTokens: 8_193 } },
    expected: { reason: "context-too-long", tokens: 8_193, limitTokens: 8_192 },
  },
  {
    when: "it lies outside the pool's jurisdictions",
    given: { pool: { jurisdictions: ["us"] } },
    expected: { reason: "not-allowed", jurisdiction: "eu" },
  },
  {
    when: "it states no jurisdiction and the pool does",
    region: { jurisdiction: null },
    given: { pool: { jurisdictions: ["eu"] } },
    expected: { reason: "not-allowed", jurisdiction: null },
  },
  {
    when: "an override denies it",
    given: { world: { overrides: [{ id: "o1", kind: "deny", region: "frank*", pool: "*", model: "*", tenant: "*" }] } },
    expected: { reason: "overridden", overrideId: "o1" },
  },
  {
    when: "an override forces another region",
    given: {
      world: { overrides: [{ id: "o2", kind: "force", region: "paris", pool: "chat", model: "*", tenant: "*" }] },
    },
    expected: { reason: "overridden", overrideId: "o2" },
  },
  {
    when: "an override drains it",
    given: { world: { overrides: [{ id: "o4", kind: "drain-all", region: "*", pool: "*", model: "*", tenant: "*" }] } },
    expected: { reason: "overridden", overrideId: "o4" },
  },
  {
    when: "an override drains it for new conversations",
    given: { world: { overrides: [{ id: "o5", kind: "drain-new", region: "*", pool: "*", model: "*", tenant: "*" }] } },
    expected: { reason: "overridden", overrideId: "o5" },
  },
  {
    when: "an override drains it for new conversations, and it holds this one",
    given: {
      conversation: held,
      world: { overrides: [{ id: "o5", kind: "drain-new", region: "*", pool: "*", model: "*", tenant: "*" }] },
    },
    expected: null,
  },
  {
    when: "an override concerns another tenant",
    given: { world: { overrides: [{ id: "o3", kind: "deny", region: "*", pool: "*", model: "*", tenant: "acme" }] } },
    expected: null,
  },
  {
    when: "its gateway refused this conversation",
    given: { conversation: { ...held, refusedBy: [regionId("frankfurt")] } },
    expected: { reason: "refused" },
  },
  {
    when: "the stored response lies elsewhere",
    given: { query: { stateRegion: regionId("paris") } },
    expected: { reason: "state-elsewhere", region: regionId("paris") },
  },
  {
    when: "it is down, drains and never reported: down is named",
    region: { admin: "down", reportAgeMs: null, placement: null },
    expected: { reason: "down", cause: "ordered" },
  },
];

describe("Frankfurt as a candidate", () => {
  for (const { when, region = {}, given = {}, expected } of cases) {
    it(`is ${expected === null ? "one" : `excluded (${expected.reason})`} when ${when}`, () => {
      const regions = [aRegion("frankfurt", region), ...(given.regions ?? [])];
      const [found] = decideIn({ ...given, regions }).considered;
      assert.deepEqual(found?.kind === "excluded" ? found.exclusion : null, expected);
    });
  }
});

describe("a glob of an override", () => {
  const globs: readonly [string, string, boolean][] = [
    ["*", "", true],
    ["eu-*", "eu-central", true],
    ["eu-*", "us-east", false],
    ["*-central", "eu-central", true],
    ["a*a", "a", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*bb*b", "abb", false],
    ["eu-central", "eu-central-2", false],
    ["eu.central", "eu-central", false],
  ];
  for (const [glob, text, expected] of globs) {
    it(`'${glob}' ${expected ? "matches" : "does not match"} '${text}'`, () =>
      assert.equal(matchesGlob(glob, text), expected));
  }
});
