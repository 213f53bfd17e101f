/** Two or three GTMs and a gateway on one store that loses answers, goes away and is wiped: in the end they are of one mind. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createConversationStore } from "#gtm/datalayer/conversation-store.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { OperationalError } from "#shared/errors.ts";
import { ConversationId } from "#shared/ids.ts";
import { conversationKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aRegion, NOW_MS, regionId, replicaId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createFallibleStore, type FallibleStore } from "#test/support/fallible-store.ts";
import { createLedgerGateway } from "#test/support/ledger-gateway.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";

const NAMES = ["frankfurt", "paris", "virginia"] as const;
const IDS = [0, 1].map((at) => ConversationId.parse(String(at).padStart(13, "0")));
/** Each operation on a GTM's way to the store meets the next of these. */
const WAYS = ["done", "done", "done", "slow", "lost-before", "lost-after"] as const;

type Step =
  | { readonly kind: "turn"; readonly gtm: number; readonly id: number; readonly region: number }
  | { readonly kind: "measured"; readonly id: number; readonly region: number; readonly tokens: number }
  | { readonly kind: "find"; readonly gtm: number; readonly id: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "away"; readonly gtm: number; readonly isAway: boolean }
  | { readonly kind: "wipe" }
  | { readonly kind: "settle" };

const gtmNumber = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("turn"), gtm: gtmNumber, id: fc.nat(1), region: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("measured"), id: fc.nat(1), region: fc.nat(2), tokens: fc.nat(9_000) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("find"), gtm: gtmNumber, id: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.integer({ min: 1, max: 5_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("away"), gtm: gtmNumber, isAway: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wipe") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle") }) },
) as fc.Arbitrary<Step>;

const turnsOfTheLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const scene = async (count: number, ways: readonly (typeof WAYS)[number][]) => {
  const clock = createManualClock();
  clock.advance(NOW_MS - clock.monotonicMs());
  const shared = createMemoryStore(clock);
  const state = { isFaulty: true, met: 0, attempts: 0 };
  const wayOn = async (store: FallibleStore, act: () => Promise<unknown>): Promise<unknown> => {
    const way = state.isFaulty ? ways[state.met++ % ways.length] : "done";
    if (way === "slow") await turnsOfTheLoop(5);
    const lost = () => new OperationalError("GTM_STORE_UNREACHABLE", `${way}${store.isAway ? ", away" : ""}`);
    if (way === "lost-before") throw lost();
    const answer = await act();
    if (way === "lost-after") throw lost();
    return answer;
  };
  const gtms = await Promise.all(
    Array.from({ length: count }, async () => {
      const store = createFallibleStore(shared);
      for (const operation of ["get", "setIfAbsent", "compareAndSet", "announce"] as const) {
        const real = store[operation] as (...args: readonly unknown[]) => Promise<unknown>;
        Object.assign(store, {
          [operation]: (...args: readonly unknown[]) => {
            state.attempts++;
            return wayOn(store, () => real(...args));
          },
        });
      }
      const [log, metrics] = [silentLogger, createMetrics()];
      const conversations = createConversationStore({
        ...{ store, clock, metrics, policy: DEFAULT_POLICY, regions: NAMES.map(regionId) },
        ...{ failures: createStoreFailures({ log, metrics, clock }), random: Math.random },
        degradations: createDegradations({ clock, log, metrics }),
      });
      await conversations.start();
      return { store, conversations, metrics };
    }),
  );
  const record = async (id: ConversationId): Promise<ConversationRecord | null> => {
    const stored = await shared.get(conversationKey(id));
    return stored === null ? null : ConversationRecord.parse(JSON.parse(stored.value));
  };
  const at = (gtm: number) => gtms[gtm % count] as (typeof gtms)[number];
  const turn = (gtm: number, id: ConversationId, region: string): void => {
    const entry = anEntry({ regions: [aRegion(region)], query: { conversationId: id } });
    const decision = { ...entry.decision, decidedAtMs: clock.monotonicMs() };
    at(gtm).conversations.commit({ ...entry, decision });
  };
  const measured = (id: ConversationId, region: string, tokens: number): Promise<boolean> =>
    createLedgerGateway(shared, clock, regionId(region)).measured(id, replicaId(region, 1), tokens);
  const act = async (one: Step): Promise<void> => {
    switch (one.kind) {
      case "turn":
        return turn(one.gtm, IDS[one.id] as ConversationId, NAMES[one.region] as string);
      case "measured":
        await measured(IDS[one.id] as ConversationId, NAMES[one.region] as string, one.tokens);
        return;
      case "find":
        await at(one.gtm).conversations.find(IDS[one.id] as ConversationId, 1_000);
        return;
      case "pass":
        return clock.advance(one.ms);
      case "away":
        at(one.gtm).store.isAway = one.isAway;
        return;
      case "wipe":
        for (const id of IDS) await shared.remove(conversationKey(id));
        return;
      case "settle":
        return turnsOfTheLoop(20);
    }
  };
  return { clock, state, gtms, record, turn, measured, act };
};
type Scene = Awaited<ReturnType<typeof scene>>;

/** Revisions only grow, until a wipe. */
const playAll = async ({ act, record }: Scene, steps: readonly Step[]): Promise<void> => {
  const revs = new Map<ConversationId, number>();
  for (const one of steps) {
    await act(one);
    if (one.kind === "wipe") revs.clear();
    for (const id of IDS) {
      const rev = (await record(id))?.rev ?? 0;
      assert.ok(rev === 0 || rev >= (revs.get(id) ?? 0), `revision ${rev} after ${revs.get(id)}`);
      revs.set(id, rev);
    }
  }
};

/** The store is well again, and each conversation has a last turn, newer than all by more than what runs in parallel. */
const recover = async ({ state, gtms, clock, turn }: Scene): Promise<void> => {
  state.isFaulty = false;
  for (const { store } of gtms) store.isAway = false;
  clock.advance(5_000);
  for (const [nth, id] of IDS.entries()) turn(nth, id, "paris");
  for (const { metrics } of gtms) {
    await until(async () => (await metricValue(metrics, "gtm_pins_waiting")) === 0, "every pin written");
  }
  clock.advance(3_000);
};

type Holding = { readonly region: string; readonly replica: string | null; readonly tokens: number };
const homeOf = (conversation: Conversation | null): Holding | undefined => conversation?.holdings[0];
/** More than any estimate or measurement before. */
const MEASURED_TOKENS = 77_777;

/** The last turn's region is home, everywhere; its gateway measures it, and no estimate overwrites that. */
const beOfOneMind = async ({ gtms, record, measured, clock }: Scene): Promise<void> => {
  const untilAll = (id: ConversationId, is: (home: Holding | undefined) => boolean, what: string): Promise<void> =>
    until(async () => {
      const known = await Promise.all(gtms.map(({ conversations }) => conversations.find(id, 1_000)));
      const [region = "", replica = null, tokens = 0] = (await record(id))?.h[0] ?? [];
      return [...known.map(homeOf), { region, replica, tokens }].every(is);
    }, what);
  for (const id of IDS) await untilAll(id, (home) => home?.region === "paris", "one home, here and there");
  clock.advance(3_000);
  for (const id of IDS) {
    await until(() => measured(id, "paris", MEASURED_TOKENS), "nobody else writes it");
    const isMeasured = (home: Holding | undefined): boolean =>
      home?.replica === replicaId("paris", 1) && home.tokens === MEASURED_TOKENS;
    await untilAll(id, isMeasured, "one measurement, here and there");
  }
};

describe("GTMs on one store that fails", () => {
  it("end with one home for each conversation, the newest turn's, and rest", async () => {
    const ways = fc
      .array(fc.constantFrom(...WAYS), { minLength: 1, maxLength: 12 })
      .filter((some) => some.includes("done"));
    await fc.assert(
      fc.asyncProperty(
        ...([fc.integer({ min: 2, max: 3 }), ways, fc.array(step, { minLength: 1, maxLength: 25 })] as const),
        async (count, met, steps) => {
          const played = await scene(count, met);
          const stopAll = () => Promise.all(played.gtms.map(({ conversations }) => conversations.stop()));
          try {
            await playAll(played, steps);
            await recover(played);
            await beOfOneMind(played);
            // Nothing goes on by itself: no GTM repairs what another has repaired.
            await stopAll();
            const { attempts } = played.state;
            await turnsOfTheLoop(50);
            assert.equal(played.state.attempts, attempts);
          } finally {
            await stopAll();
          }
        },
      ),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 15), endOnFailure: true },
    );
  });
});
