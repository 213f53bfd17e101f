/** A GTM's own decisions as traffic: who asked what when from where, chained by conversation. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES } from "#gtm/simulation/cities.ts";
import { readDecisions } from "#gtm/simulation/recorded/recorded-decisions.ts";
import { recordedOutcome } from "#gtm/simulation/recorded/recorded-outcome.ts";
import { TRACE_OPTIONS } from "#gtm/simulation/traces/trace-options.ts";
import { traceTraffic } from "#gtm/simulation/traces/trace-traffic.ts";
import { VISIT, visitTurns } from "#gtm/simulation/traffic-in-order.ts";
import { type DecisionView, decisionView } from "#gtm/steering/decision-view.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { aConversation, aRegion } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";

/** The fields that are read; the type says that decisions have them. */
type Decided = Pick<
  DecisionView,
  "id" | "at" | "channel" | "kind" | "pool" | "model" | "client" | "conversation" | "expected"
>;
type Told = NonNullable<DecisionView["conversation"]>;

const decided = (id: string, second: number, told: Partial<Told>, other: Partial<Decided> = {}): Decided => ({
  ...{ id, at: new Date(1_796_000_000_000 + 1_000 * second).toISOString(), channel: "http", kind: "turn" },
  ...{ pool: "chat", model: "llama" },
  client: { subnet: "192.0.2.0/24", area: "48.5,2.0", place: "FR", source: "geo" },
  conversation: {
    ...{
      id: "c1",
      contextTokens: 0,
      isContextAssumed: false,
      newTokens: 0,
      home: null,
      idleMs: null,
      turns: 0,
      parentId: null,
    },
    ...told,
  },
  expected: {
    ...{
      outputTokens: 64,
      outputSource: "learnt",
      outputLimitTokens: null,
      nextTurnFraction: 0.5,
      nextTurnSource: "learnt",
    },
    ...{ reuseFraction: 0.9, reuseSource: "learnt" },
  },
  ...other,
});
const read = (decisions: readonly object[], model: string | null = null) =>
  readDecisions({ name: "log.jsonl", lines: decisions.map((one) => JSON.stringify(one)) }, model);

/** Newest first, as lists are. */
const LOG = [
  decided("d4", 60, { id: "task", contextTokens: 640, newTokens: 64, parentId: "c1" }),
  decided("d3", 40, { contextTokens: 128, newTokens: 1_000 }),
  decided("d2", 20, { contextTokens: 704, newTokens: 320 }),
  decided("d1", 0, { newTokens: 640 }),
  decided("dns", 5, {}, { kind: "cell", channel: "dns" }),
  decided("bare", 6, {}, { conversation: null }),
  decided("other", 7, { id: "c9", newTokens: 100 }, { model: "tiny" }),
];

describe("recorded decisions", () => {
  it("are turns at their times, oldest first; what is no turn of the model is counted", () => {
    const { trace, model, leftOut } = read(LOG);
    assert.equal(model, "llama");
    assert.deepEqual(leftOut, { dnsAnswers: 1, withoutConversation: 1, otherModels: 1 });
    assert.equal(trace.lengthMs, 60_000);
    const [client] = trace.clients;
    assert.equal(trace.clients.length, 1);
    assert.deepEqual(client?.location, { latitude: 48.5, longitude: 2 });
    assert.deepEqual(
      client?.turns.map(({ thread, afterMs, promptTokens, outputTokens }) => [
        thread,
        afterMs,
        promptTokens,
        outputTokens,
      ]),
      [
        [0, 0, 640, 64],
        [0, 20_000, 1_024, 64],
        [0, 40_000, 1_128, 64],
        [1, 60_000, 704, 64],
      ],
    );
  });

  it("are chained as far as the log says that the context was there: by conversation, by parent, and no further", () => {
    const turns = read(LOG).trace.clients[0]?.turns ?? [];
    // Ten blocks; all of them and the answer's; two of those; ten of the parent's, whose prompt then was two old ones and new.
    assert.deepEqual(
      turns.map(({ blocks }) => blocks),
      [
        [1, 10],
        [1, 16],
        [1, 2, 17, 15],
        [1, 2, 17, 8, 32, 1],
      ],
    );
  });

  it("are played as they came, sub-agents with their parents", () => {
    const traffic = traceTraffic(read(LOG).trace, { ...TRACE_OPTIONS, seed: 1, cities: CITIES });
    const seen: unknown[] = [];
    visitTurns(traffic, VISIT, ({ conversation, parent, turn }, atMs, { city }) =>
      seen.push([atMs, turn, parent === null ? "own" : parent - conversation, city.name]),
    );
    assert.deepEqual(seen, [
      [0, 1, "own", "Paris"],
      [20_000, 2, "own", "Paris"],
      [40_000, 3, "own", "Paris"],
      [60_000, 1, -1, "Paris"],
    ]);
  });

  it("take a context that was only assumed for a new one, and a place with a name for an unknown one", () => {
    const assumed = decided("a", 0, { contextTokens: 4_096, isContextAssumed: true, newTokens: 4 });
    const client = { subnet: "192.0.2.0/24", area: "office", place: "office", source: "static" };
    const { trace } = read([assumed, decided("b", 9, { id: "c2", newTokens: 64 }, { client })]);
    assert.equal(trace.clients[0]?.turns[0]?.promptTokens, 4_100);
    assert.equal(trace.clients[1]?.location, null);
  });

  it("are read as production shows them", () => {
    const conversation = aConversation({ home: "frankfurt", contextTokens: 20_000 });
    const entry = anEntry({
      ...{ regions: [aRegion("frankfurt"), aRegion("virginia")], conversation },
      query: { conversationId: conversation.id, promptTokens: 20_500 },
    });
    const view = decisionView(entry, DEFAULT_POLICY, (ms) => 1_796_000_000_000 + ms);
    const { trace } = read([view]);
    assert.equal(trace.clients[0]?.turns[0]?.promptTokens, 20_500);
    const { verdicts, regions, predictedTtftMs } = recordedOutcome({ name: "log", lines: [JSON.stringify(view)] });
    assert.deepEqual([verdicts, regions], [[["pinned", 1]], [["frankfurt", 1]]]);
    assert.ok((predictedTtftMs ?? 0) > 0);
  });

  it("may be a page as -o json prints it, and the same decision twice is one", () => {
    const page = JSON.stringify({ items: [...LOG, ...LOG], next_cursor: null }, null, 2);
    const paged = readDecisions({ name: "page.json", lines: page.split("\n") }, null);
    assert.deepEqual(paged.trace, read(LOG).trace);
  });

  it("are refused where they are none, or none is left, with the place", () => {
    const fault = (message: RegExp) => ({ code: "GTM_TRACE_INVALID", message });
    assert.throws(() => read([LOG[3] ?? {}, { some: "object" }]), fault(/log\.jsonl:2: expected a decision with "id"/));
    assert.throws(() => read([{ ...LOG[3], at: "yesterday" }]), fault(/log\.jsonl:1: expected "at" as a time/));
    assert.throws(
      () => read([decided("x", 0, { newTokens: -1 })]),
      fault(/expected "newTokens" as a number of 0 or more/),
    );
    assert.throws(() => read(LOG, "huge"), fault(/at least one HTTP turn of the model huge/));
    assert.throws(() => read([LOG[4] ?? {}]), fault(/at least one HTTP turn with a conversation/));
  });
});
