/** Challenge values reach every GTM, end by themselves, and belong to whoever presented them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_ACME_VALUES } from "#shared/acme-record.ts";
import { OperationalError } from "#shared/errors.ts";
import { acmeKey, acmeNamesKey } from "#shared/keys.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { APEX, setUpChallenges, startChallenges, WILD, wish } from "./acme-gtm.ts";

describe("a challenge that is presented", () => {
  it("is answered at once, by the other GTM as soon as it hears, and until its end", async () => {
    const { a, b, clock } = await setUpChallenges();
    assert.deepEqual(await a.present(wish()), { kind: "presented" });
    assert.deepEqual(a.texts(WILD), ["digest-1"]);
    await until(() => b.texts(WILD) !== null);
    clock.advance(599_999);
    assert.deepEqual([a.texts(WILD), b.texts(WILD)], [["digest-1"], ["digest-1"]]);
    clock.advance(2);
    assert.deepEqual([a.texts(WILD), b.texts(WILD), b.list()], [null, null, []]);
  });
  it("stands beside others of its name, each with its own end", async () => {
    const { a, b, clock } = await setUpChallenges();
    await a.present(wish({ value: "wild", forMs: 60_000 }));
    clock.advance(10_000);
    await b.present(wish({ value: "apex", forMs: 600_000 }));
    await until(() => a.texts(WILD)?.length === 2);
    assert.deepEqual(a.texts(WILD), ["apex", "wild"]);
    clock.advance(50_001);
    assert.deepEqual([a.texts(WILD), b.texts(WILD)], [["apex"], ["apex"]]);
  });
  it("is the same array until something changes, so that its answer is encoded once", async () => {
    const { a } = await setUpChallenges();
    await a.present(wish());
    const texts = a.texts(WILD);
    assert.equal(a.texts(WILD), texts);
    await a.present(wish({ value: "digest-2" }));
    assert.notEqual(a.texts(WILD), texts);
  });
  it("again ends later, never sooner, and takes no more room", async () => {
    const { a, clock } = await setUpChallenges();
    await a.present(wish({ forMs: 600_000 }));
    await a.present(wish({ forMs: 1_000 }));
    clock.advance(599_000);
    assert.deepEqual(a.texts(WILD), ["digest-1"]);
    await a.present(wish({ forMs: 600_000 }));
    clock.advance(599_000);
    assert.deepEqual(a.list()[0]?.values.length, 1);
  });
  it("stands for an hour at most, whatever is asked", async () => {
    const { a, clock } = await setUpChallenges();
    await a.present(wish({ forMs: 1e12 }));
    clock.advance(3_600_001);
    assert.equal(a.texts(WILD), null);
  });
  it("ends alike where another GTM's time of day is a day ahead", async () => {
    const { a, store, clock } = await setUpChallenges();
    const ahead = createManualClock();
    ahead.setEpochMs(clock.epochMs() + 86_400_000);
    await a.present(wish({ forMs: 60_000 }));
    const c = await startChallenges(store, ahead);
    assert.deepEqual(c.list()[0]?.values[0]?.expiresInMs, 60_000);
  });
  it("is read by a GTM that starts later", async () => {
    const { a, store, clock } = await setUpChallenges();
    await a.present(wish());
    const c = await startChallenges(store, clock);
    assert.deepEqual(c.texts(WILD), ["digest-1"]);
    await until(async () => (await metricValue(c.metrics, "gtm_acme_challenges")) === 1);
  });
  it("at a name that is not ours is not taken, and nothing is written", async () => {
    const { a, store } = await setUpChallenges();
    for (const name of ["_acme-challenge.example.org", "", "x", "_acme-challenge.C.llm.test", "constructor"]) {
      assert.deepEqual(await a.present(wish({ name })), { kind: "not-ours" });
      assert.deepEqual(await a.cleanup(name, { value: null, actor: null }), { kind: "not-ours" });
    }
    assert.equal(store.calls["compareAndSet"], undefined);
  });
});

describe("many challenges", () => {
  it("of one name are taken up to eight, from both GTMs at once, and not one is lost or too many", async () => {
    const { a, b } = await setUpChallenges();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, i) => [a, b][i % 2]?.present(wish({ value: `v${i}` }))),
    );
    const kinds = outcomes.map((one) => one?.kind);
    assert.equal(kinds.filter((kind) => kind === "presented").length, MOST_ACME_VALUES);
    assert.equal(kinds.filter((kind) => kind === "full").length, 4);
    await until(() => a.texts(WILD)?.length === MOST_ACME_VALUES && b.texts(WILD)?.length === MOST_ACME_VALUES);
  });
  it("of one name, ten thousand from one GTM, leave eight in the store and in memory", async () => {
    const { a, store } = await setUpChallenges();
    let taken = 0;
    for (let i = 0; i < 10_000; i++) {
      const { kind } = await a.present(wish({ value: `v${i}` }));
      taken += kind === "presented" ? 1 : 0;
    }
    assert.deepEqual([taken, a.texts(WILD)?.length], [MOST_ACME_VALUES, MOST_ACME_VALUES]);
    const { value } = (await store.get(acmeKey(WILD))) ?? { value: "" };
    assert.ok(value.length < 1_000, `${value.length} characters`);
    assert.deepEqual(
      (await store.indexTop(acmeNamesKey(), Number.MAX_SAFE_INTEGER, 9)).map(({ member }) => member),
      [WILD],
    );
  });
  it("of a thousand names are taken, and no more", async () => {
    const { a } = await setUpChallenges();
    for (let i = 0; i < 1_000; i++) await a.present(wish({ name: `n${i}.llm.test` }));
    assert.deepEqual(await a.present(wish({ name: "n1000.llm.test" })), { kind: "full", of: "zone" });
    assert.deepEqual(await a.present(wish({ name: "n0.llm.test", value: "second" })), { kind: "presented" });
  });
});

describe("cleaning up", () => {
  it("takes back one's own value everywhere, and leaves the others", async () => {
    const { a, b } = await setUpChallenges();
    await a.present(wish({ value: "one" }));
    await a.present(wish({ value: "two" }));
    const cleaned = await b.cleanup(WILD, { value: "one", actor: "lego" });
    assert.deepEqual(cleaned, { kind: "cleaned", values: 1, others: 0 });
    await until(() => a.texts(WILD)?.length === 1);
    await a.cleanup(WILD, { value: "two", actor: "lego" });
    await until(() => b.texts(WILD) === null);
  });
  it("does not touch what another presented, also where it is the same value", async () => {
    const { a } = await setUpChallenges();
    await a.present(wish({ actor: "traefik" }));
    const choice = { value: "digest-1", actor: "lego" };
    assert.deepEqual(await a.cleanup(WILD, choice), { kind: "cleaned", values: 0, others: 1 });
    await a.present(wish({ actor: "lego" }));
    assert.deepEqual(await a.cleanup(WILD, choice), { kind: "cleaned", values: 1, others: 1 });
    assert.deepEqual(
      a.list()[0]?.values.map(({ actor }) => actor),
      ["traefik"],
    );
  });
  it("of whoever it is, where nobody is named", async () => {
    const { a } = await setUpChallenges();
    await a.present(wish({ actor: "traefik" }));
    await a.present(wish({ actor: "lego", value: "two" }));
    assert.deepEqual(await a.cleanup(WILD, { value: null, actor: null }), { kind: "cleaned", values: 2, others: 0 });
    assert.deepEqual(a.list(), []);
  });
  it("what is not there does no harm and leaves no key", async () => {
    const { a, store } = await setUpChallenges();
    assert.deepEqual(await a.cleanup(APEX, { value: "x", actor: "lego" }), { kind: "cleaned", values: 0, others: 0 });
    assert.equal(await store.get(acmeKey(APEX)), null);
  });
});

describe("while the store is away", () => {
  it("nothing is taken, and what is known is answered until its end", async () => {
    const { a, b, store, clock } = await setUpChallenges();
    await a.present(wish());
    await until(() => b.texts(WILD) !== null);
    store.isAway = true;
    const isAway = (fault: unknown) => fault instanceof OperationalError && fault.code === "GTM_STORE_UNREACHABLE";
    await assert.rejects(a.present(wish({ value: "two" })), isAway);
    await assert.rejects(a.cleanup(WILD, { value: null, actor: null }), isAway);
    assert.deepEqual([a.texts(WILD), b.texts(WILD)], [["digest-1"], ["digest-1"]]);
    clock.advance(600_001);
    assert.equal(a.texts(WILD), null);
  });
  it("what another presents is read within a second of its return, though nobody told", async () => {
    const { a, b, store } = await setUpChallenges();
    store.fault = (operation) => (operation === "announce" ? "lost" : null);
    await a.present(wish());
    assert.equal(await metricValue(a.metrics, "gtm_store_failures_total", { operation: "acme.announce" }), 1);
    await until(() => b.texts(WILD) !== null);
  });
  it("what it lost is put back, and found by others", async () => {
    const { a, store, clock } = await setUpChallenges();
    await a.present(wish());
    await store.remove(acmeKey(WILD));
    await store.indexRemove(acmeNamesKey(), WILD);
    await until(async () => (await store.get(acmeKey(WILD))) !== null);
    const c = await startChallenges(store, clock);
    assert.deepEqual(c.texts(WILD), ["digest-1"]);
  });
  it("what ended there a moment before it does here is not put back", async () => {
    const { a, store, clock } = await setUpChallenges();
    await a.present(wish({ forMs: 10_000 }));
    clock.advance(9_000);
    await store.remove(acmeKey(WILD));
    const reads = store.calls["get"] ?? 0;
    await until(() => (store.calls["get"] ?? 0) >= reads + 4, "both have looked twice");
    assert.equal(await store.get(acmeKey(WILD)), null);
    assert.deepEqual(a.texts(WILD), ["digest-1"]);
  });
  it("what it refuses is told as degraded, by its reason, until it works again", async () => {
    const { a, store } = await setUpChallenges();
    store.fault = (operation, key) => (operation === "indexTop" && key === acmeNamesKey() ? "refused" : null);
    const reasons = () => a.degradations.current().map(({ what, reason }) => `${what}: ${reason}`);
    await until(() => reasons().length === 1);
    assert.match(reasons()[0] ?? "", /^challenges: challenges of others are not heard: .*not done/);
    store.fault = () => null;
    await until(() => reasons().length === 0);
  });
});

describe("what somebody else wrote to the store", () => {
  const strange: readonly (readonly [what: string, value: string])[] = [
    ["no JSON", "{"],
    ["a newer version", '{"v":2,"rev":1,"values":[]}'],
    ["a value of 256 octets", JSON.stringify(aRecord("x".repeat(256)))],
    ["a value that is not ASCII", JSON.stringify(aRecord("ä"))],
    ["nine values", JSON.stringify({ v: 1, rev: 1, values: Array(9).fill(aRecord("x").values[0]) })],
  ];
  for (const [what, value] of strange) {
    it(`as ${what} is refused by name, left alone, and answered by nobody`, async () => {
      const { a, store } = await setUpChallenges();
      await store.put(acmeKey(WILD), value, null);
      await assert.rejects(a.present(wish()), { code: "GTM_RECORD_REFUSED" });
      assert.deepEqual([a.texts(WILD), (await store.get(acmeKey(WILD)))?.value], [null, value]);
      await until(() => a.degradations.current().some(({ reason }) => reason.includes(acmeKey(WILD))));
    });
  }
  it("without an end ends in an hour", async () => {
    const { store, clock } = await setUpChallenges();
    await store.put(acmeKey(WILD), JSON.stringify(aRecord("x")), null);
    await store.indexAdd(acmeNamesKey(), WILD, 1);
    await store.indexAdd(acmeNamesKey(), "_acme-challenge.elsewhere.test", 2);
    const c = await startChallenges(store, clock);
    assert.deepEqual(c.list(), [{ name: WILD, values: [{ value: "x", actor: "them", expiresInMs: 3_600_000 }] }]);
  });
});

function aRecord(value: string) {
  return { v: 1, rev: 1, values: [{ value, actor: "them", earlierMs: 0 }] };
}
