/** What every store must do, whatever it is made of. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Store } from "#shared/store.ts";

export type StoreUnderTest = {
  readonly store: Store;
  /** Lets so much time pass by the store's own clock: moves a clock, or waits. */
  readonly advance: (ms: number) => Promise<void>;
  /** Closes the store and whatever was started for it. */
  readonly close: () => Promise<void>;
};

/** Odd, legal, and once somebody's bug: separators, braces, quotes, line feeds, NUL, beyond U+FFFF, long, and Object's own names. */
const ODD_TEXTS = [
  "a:b/c{d}",
  "{",
  "* ? [x]",
  "with space",
  'quote " and \\ backslash',
  "line\r\nfeed",
  "nul\u0000inside",
  "ümläut €",
  "😀",
  "__proto__",
  "constructor",
  "",
  "x".repeat(10_000),
];

/** @param createStore an empty store; called before each case */
export const storeConformance = (name: string, createStore: () => Promise<StoreUnderTest>): void => {
  describe(`${name} is a store`, () => {
    let under: StoreUnderTest;
    beforeEach(async () => {
      under = await createStore();
    });
    afterEach(() => under.close());
    const current = (): StoreUnderTest => under;

    describe("a value", () => valueCases(current));
    describe("time to live", () => expiryCases(current));
    describe("set-if-absent", () => absenceCases(current));
    describe("compare-and-set on rev", () => compareCases(current));
    describe("an index", () => indexCases(current));
    describe("a capped stream", () => streamCases(current));
    describe("a subscription", () => subscriptionCases(current));
    describe("its end", () => endCases(current));
  });
};

type Current = () => StoreUnderTest;

const valueCases = (current: Current): void => {
  it("is read as it was put, and null before", async () => {
    const { store } = current();
    assert.equal(await store.get("key"), null);
    await store.put("key", "value", null);
    assert.deepEqual(await store.get("key"), { value: "value", remainingMs: null });
  });
  it("replaces the one before it", async () => {
    const { store } = current();
    await store.put("key", "first", null);
    await store.put("key", "second", null);
    assert.equal((await store.get("key"))?.value, "second");
  });
  it("is gone once removed, and removing nothing is no fault", async () => {
    const { store } = current();
    await store.put("key", "value", null);
    await store.remove("key");
    await store.remove("key");
    assert.equal(await store.get("key"), null);
  });
  it("comes back octet for octet, under any key", async () => {
    const { store } = current();
    for (const text of ODD_TEXTS) await store.put(`odd:${text}`, text, null);
    for (const text of ODD_TEXTS) assert.equal((await store.get(`odd:${text}`))?.value, text);
  });
  it("may be a megabyte", async () => {
    const { store } = current();
    const value = "0123456789abcdef".repeat(65_536);
    await store.put("large", value, null);
    assert.equal((await store.get("large"))?.value, value);
  });
  it("is found among many in the order asked, absent ones as null and doubles twice", async () => {
    const { store } = current();
    for (const key of ["a", "b", "c"]) await store.put(key, key.toUpperCase(), null);
    const found = await store.getMany(["c", "none", "a", "c", "b"]);
    assert.deepEqual(
      found.map((stored) => stored?.value ?? null),
      ["C", null, "A", "C", "B"],
    );
  });
  it("is nothing where nothing is asked", async () => {
    assert.deepEqual(await current().store.getMany([]), []);
  });
  it("is each caller's own when a hundred are put at once", async () => {
    const { store } = current();
    const keys = Array.from({ length: 100 }, (_, i) => `key:${i}`);
    await Promise.all(keys.map((key) => store.put(key, `value of ${key}`, 60_000)));
    const found = await store.getMany(keys);
    assert.deepEqual(
      found.map((stored) => stored?.value),
      keys.map((key) => `value of ${key}`),
    );
  });
};

const remainingOf = async (store: Store, key: string): Promise<number> => {
  const stored = await store.get(key);
  assert.ok(stored !== null && stored.remainingMs !== null, `${key} should be there and expire`);
  return stored.remainingMs;
};

const expiryCases = (current: Current): void => {
  it("says how much is left, never more than was given", async () => {
    const { store } = current();
    await store.put("key", "value", 60_000);
    const left = await remainingOf(store, "key");
    assert.ok(left > 55_000 && left <= 60_000, `expected about 60 000 ms, found ${left}`);
  });
  it("shrinks as time passes", async () => {
    const { store, advance } = current();
    await store.put("key", "value", 60_000);
    const before = await remainingOf(store, "key");
    await advance(50);
    const passed = before - (await remainingOf(store, "key"));
    assert.ok(passed >= 45, `expected 50 ms to have passed, found ${passed}`);
  });
  it("ends the value, for get and for many", async () => {
    const { store, advance } = current();
    await store.put("short", "value", 40);
    await store.put("long", "value", 60_000);
    await advance(60);
    assert.equal(await store.get("short"), null);
    const [short, long] = await store.getMany(["short", "long"]);
    assert.equal(short, null);
    assert.equal(long?.value, "value");
  });
  it("starts anew with every put", async () => {
    const { store, advance } = current();
    await store.put("key", "first", 40);
    await store.put("key", "second", 60_000);
    await advance(60);
    assert.equal((await store.get("key"))?.value, "second");
  });
  it("ends with a put that has none", async () => {
    const { store } = current();
    await store.put("key", "first", 60_000);
    await store.put("key", "second", null);
    assert.equal((await store.get("key"))?.remainingMs, null);
  });
  it("may be a fraction of a millisecond's multiple", async () => {
    const { store } = current();
    await store.put("key", "value", 60_000.75);
    assert.ok((await remainingOf(store, "key")) > 55_000);
  });
};

const absenceCases = (current: Current): void => {
  it("sets a free key, and only then", async () => {
    const { store } = current();
    assert.equal(await store.setIfAbsent("key", "first", 60_000), true);
    assert.equal(await store.setIfAbsent("key", "second", null), false);
    assert.equal((await store.get("key"))?.value, "first");
    assert.ok((await remainingOf(store, "key")) <= 60_000, "the loser does not touch the time to live");
  });
  it("takes an expired key for a free one", async () => {
    const { store, advance } = current();
    await store.put("key", "first", 40);
    await advance(60);
    assert.equal(await store.setIfAbsent("key", "second", null), true);
  });
  it("has one winner among twenty", async () => {
    const { store } = current();
    const claims = Array.from({ length: 20 }, (_, i) => store.setIfAbsent("key", `claim ${i}`, 60_000));
    const won = await Promise.all(claims);
    assert.equal(won.filter(Boolean).length, 1);
    assert.equal((await store.get("key"))?.value, `claim ${won.indexOf(true)}`);
  });
};

const record = (rev: number, by = "test"): string => JSON.stringify({ v: 1, rev, by });

const compareCases = (current: Current): void => {
  it("begins with rev 0 on a free key", async () => {
    const { store } = current();
    assert.deepEqual(await store.compareAndSet("key", 0, record(1), 60_000), { kind: "stored", rev: 1 });
    assert.equal((await store.get("key"))?.value, record(1));
    assert.ok((await remainingOf(store, "key")) > 55_000);
  });
  it("goes on from the rev that stands there", async () => {
    const { store } = current();
    await store.compareAndSet("key", 0, record(1), null);
    assert.deepEqual(await store.compareAndSet("key", 1, record(2), null), { kind: "stored", rev: 2 });
    assert.equal((await store.get("key"))?.remainingMs, null);
  });
  it("shows what stands there where the rev is another", async () => {
    const { store } = current();
    await store.compareAndSet("key", 0, record(1), 60_000);
    const standing = { kind: "conflict", value: record(1) };
    assert.deepEqual(await store.compareAndSet("key", 0, record(1, "other"), null), standing, "0 asks for a free key");
    assert.deepEqual(await store.compareAndSet("key", 2, record(3, "other"), null), standing, "from the future");
    assert.equal((await store.get("key"))?.value, record(1));
    assert.ok((await remainingOf(store, "key")) <= 60_000, "the loser does not touch the time to live");
  });
  it("shows that nothing stands there where something was expected", async () => {
    const nothing = { kind: "conflict", value: null };
    assert.deepEqual(await current().store.compareAndSet("key", 3, record(4), null), nothing);
    assert.equal(await current().store.get("key"), null);
  });
  it("takes an expired value for none", async () => {
    const { store, advance } = current();
    await store.compareAndSet("key", 0, record(1), 40);
    await advance(60);
    assert.deepEqual(await store.compareAndSet("key", 1, record(2), null), { kind: "conflict", value: null });
    assert.deepEqual(await store.compareAndSet("key", 0, record(1), null), { kind: "stored", rev: 1 });
  });
  it("leaves a value without a rev alone", async () => {
    const { store } = current();
    for (const value of ["not JSON", '"text"', "null", "[1]", '{"rev":"1"}', '{"rev":1.5}', "{}"]) {
      await store.put("key", value, null);
      for (const rev of [0, 1]) {
        assert.deepEqual(await store.compareAndSet("key", rev, record(1), null), { kind: "conflict", value });
      }
    }
  });
  it("has one winner among twenty, and the losers see it", async () => {
    const { store } = current();
    await store.compareAndSet("key", 0, record(1), null);
    const tries = Array.from({ length: 20 }, (_, i) => store.compareAndSet("key", 1, record(2, `try ${i}`), null));
    const outcomes = await Promise.all(tries);
    const winner = outcomes.findIndex(({ kind }) => kind === "stored");
    assert.equal(outcomes.filter(({ kind }) => kind === "stored").length, 1);
    const value = record(2, `try ${winner}`);
    assert.equal((await store.get("key"))?.value, value);
    for (const outcome of outcomes.toSpliced(winner, 1)) assert.deepEqual(outcome, { kind: "conflict", value });
  });
  it("loses no update of ten writers who try again", async () => {
    const { store } = current();
    const add = async (): Promise<void> => {
      let found = await store.get("count").then((stored) => stored?.value ?? null);
      for (;;) {
        const { rev, sum } = found === null ? { rev: 0, sum: 0 } : (JSON.parse(found) as { rev: number; sum: number });
        const next = JSON.stringify({ rev: rev + 1, sum: sum + 1 });
        const outcome = await store.compareAndSet("count", rev, next, null);
        if (outcome.kind === "stored") return;
        found = outcome.value;
      }
    };
    await Promise.all(Array.from({ length: 10 }, add));
    assert.deepEqual(JSON.parse((await store.get("count"))?.value ?? "null"), { rev: 10, sum: 10 });
  });
  it("keeps what JSON holds as it was written", async () => {
    const { store } = current();
    const value = '{"rev":1,"text":"ü😀\\u0000\\n","big":9007199254740991,"list":[],"none":null,"zero":0.10}';
    await store.compareAndSet("key", 0, value, null);
    assert.equal((await store.get("key"))?.value, value);
  });
};

const indexCases = (current: Current): void => {
  const members = async (key: string, min: number, max: number): Promise<readonly string[]> =>
    (await current().store.indexRange(key, min, max)).map(({ member }) => member);

  it("gives members from the lowest score to the highest, both ends included", async () => {
    const { store } = current();
    for (const [member, score] of [
      ["c", 30],
      ["a", 10],
      ["b", 20],
      ["d", 40],
    ] as const) {
      await store.indexAdd("index", member, score);
    }
    assert.deepEqual(await store.indexRange("index", 20, 30), [
      { member: "b", score: 20 },
      { member: "c", score: 30 },
    ]);
    assert.deepEqual(await members("index", Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), ["a", "b", "c", "d"]);
    assert.deepEqual(await members("index", 41, 50), []);
    assert.deepEqual(await members("index", 30, 20), []);
    assert.deepEqual(await members("none", 0, 100), []);
  });
  it("gives no more than asked, lowest first or highest first", async () => {
    const { store } = current();
    for (const [at, member] of ["a", "b", "c", "d"].entries()) await store.indexAdd("index", member, at);
    const [a, b, c] = ["a", "b", "c"].map((member, score) => ({ member, score }));
    assert.deepEqual(await store.indexRange("index", 0, 10, 2), [a, b]);
    assert.deepEqual(await store.indexTop("index", 2, 2), [c, b]);
    assert.deepEqual(await store.indexTop("index", Number.POSITIVE_INFINITY, 10).then((all) => all.length), 4);
    assert.deepEqual(await store.indexTop("none", 10, 10), []);
  });
  it("orders equal scores by the members' octets", async () => {
    const { store } = current();
    for (const member of ["b", "\uff5e", "a", "B", "😀"]) await store.indexAdd("index", member, 1);
    assert.deepEqual(await members("index", 1, 1), ["B", "a", "b", "\uff5e", "😀"]);
  });
  it("moves a member that is added again", async () => {
    const { store } = current();
    await store.indexAdd("index", "a", 1);
    await store.indexAdd("index", "a", 1_796_000_000_000.5);
    assert.deepEqual(await store.indexRange("index", 0, Number.POSITIVE_INFINITY), [
      { member: "a", score: 1_796_000_000_000.5 },
    ]);
  });
  it("forgets a member that is removed, and removing none is no fault", async () => {
    const { store } = current();
    await store.indexAdd("index", "a", 1);
    await store.indexAdd("index", "b", 2);
    await store.indexRemove("index", "a");
    await store.indexRemove("index", "a");
    await store.indexRemove("none", "a");
    assert.deepEqual(await members("index", 0, 10), ["b"]);
  });
  it("keeps the highest of them when it is trimmed", async () => {
    const { store } = current();
    for (const [at, member] of ["a", "b", "c", "d"].entries()) await store.indexAdd("index", member, at);
    await store.indexTrim("index", 4);
    assert.deepEqual(await members("index", 0, 10), ["a", "b", "c", "d"]);
    await store.indexTrim("index", 2);
    assert.deepEqual(await members("index", 0, 10), ["c", "d"]);
    await store.indexTrim("none", 2);
    await store.indexTrim("index", 0);
    assert.deepEqual(await members("index", 0, 10), []);
  });
  it("holds any member", async () => {
    const { store } = current();
    for (const [score, text] of ODD_TEXTS.entries()) await store.indexAdd("index", text, score);
    assert.deepEqual(await members("index", 0, ODD_TEXTS.length), ODD_TEXTS);
  });
  it("is gone once its key is removed", async () => {
    const { store } = current();
    await store.indexAdd("index", "a", 1);
    await store.remove("index");
    assert.deepEqual(await members("index", 0, 10), []);
  });
};

const streamCases = (current: Current): void => {
  it("gives the newest first, and no more than asked", async () => {
    const { store } = current();
    for (const value of ["first", "second", "third"]) await store.append("stream", value, 100);
    const values = (await store.newest("stream", 2)).map(({ value }) => value);
    assert.deepEqual(values, ["third", "second"]);
    assert.equal((await store.newest("stream", 100)).length, 3);
    assert.deepEqual(await store.newest("none", 10), []);
  });
  it("names each entry once, as append said", async () => {
    const { store } = current();
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await store.append("stream", "the same", 100));
    assert.equal(new Set(ids).size, 20);
    assert.deepEqual(
      (await store.newest("stream", 100)).map(({ id }) => id),
      ids.toReversed(),
    );
  });
  it("keeps about the newest of many", async () => {
    const { store } = current();
    for (let i = 0; i < 1_000; i++) await store.append("stream", String(i), 100);
    const values = (await store.newest("stream", 1_000)).map(({ value }) => Number(value));
    assert.deepEqual(
      values.slice(0, 100),
      Array.from({ length: 100 }, (_, i) => 999 - i),
    );
    // Redis trims whole blocks of 100 entries.
    assert.ok(values.length <= 300, `expected about 100 entries, found ${values.length}`);
  });
  it("keeps entries octet for octet", async () => {
    const { store } = current();
    for (const text of ODD_TEXTS) await store.append("stream", text, 100);
    assert.deepEqual(
      (await store.newest("stream", 100)).map(({ value }) => value),
      ODD_TEXTS.toReversed(),
    );
  });
};

/** What a subscriber has heard, and a promise for the moment when it is so much. */
const createEar = () => {
  const heard: string[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void } | null = null;
  return {
    heard,
    hear: (message: string): void => {
      heard.push(message);
      if (waiting !== null && heard.length >= waiting.count) waiting.resolve();
    },
    until: (count: number): Promise<void> =>
      new Promise((resolve) => {
        waiting = { count, resolve };
        if (heard.length >= count) resolve();
      }),
  };
};

const subscriptionCases = (current: Current): void => {
  it("hears its channel's messages in order, and no other's", async () => {
    const { store } = current();
    const ear = createEar();
    await store.subscribe("mine", ear.hear);
    await store.announce("other", "not for me");
    for (const text of ODD_TEXTS) await store.announce("mine", text);
    await ear.until(ODD_TEXTS.length);
    assert.deepEqual(ear.heard, ODD_TEXTS);
  });
  it("hears later than the announcement is made", async () => {
    const { store } = current();
    const ear = createEar();
    await store.subscribe("channel", ear.hear);
    const announced = store.announce("channel", "message");
    assert.deepEqual(ear.heard, []);
    await announced;
    await ear.until(1);
  });
  it("is one of many", async () => {
    const { store } = current();
    const [one, two] = [createEar(), createEar()];
    await store.subscribe("channel", one.hear);
    await store.subscribe("channel", two.hear);
    await store.announce("channel", "message");
    await Promise.all([one.until(1), two.until(1)]);
    assert.deepEqual([one.heard, two.heard], [["message"], ["message"]]);
  });
  it("hears nothing once it has ended, while others do", async () => {
    const { store } = current();
    const [ended, other] = [createEar(), createEar()];
    const end = await store.subscribe("channel", ended.hear);
    await store.subscribe("channel", other.hear);
    end();
    end();
    await store.announce("channel", "message");
    await other.until(1);
    assert.deepEqual(ended.heard, []);
  });
  it("harms nobody by throwing", async () => {
    const { store } = current();
    const ear = createEar();
    await store.subscribe("channel", () => {
      throw new Error("a subscriber's bug");
    });
    await store.subscribe("channel", ear.hear);
    await store.announce("channel", "first");
    await store.announce("channel", "second");
    await ear.until(2);
    assert.deepEqual(ear.heard, ["first", "second"]);
  });
  it("may not have anybody to hear it", async () => {
    await current().store.announce("nobody", "message");
  });
};

const endCases = (current: Current): void => {
  it("is up until it is closed, and then says so to every call", async () => {
    const { store } = current();
    assert.equal(store.isUp(), true);
    await store.close();
    assert.equal(store.isUp(), false);
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.get("key"),
      () => store.getMany(["key"]),
      () => store.put("key", "value", null),
      () => store.setIfAbsent("key", "value", null),
      () => store.compareAndSet("key", 0, record(1), null),
      () => store.remove("key"),
      () => store.indexAdd("index", "a", 1),
      () => store.indexRemove("index", "a"),
      () => store.indexRange("index", 0, 1),
      () => store.indexTop("index", 1, 1),
      () => store.append("stream", "value", 10),
      () => store.newest("stream", 10),
      () => store.announce("channel", "message"),
      () => store.subscribe("channel", () => {}),
    ];
    for (const call of calls) await assert.rejects(call, { name: "OperationalError", code: "GTM_STORE_UNREACHABLE" });
  });
  it("may be closed twice", async () => {
    const { store } = current();
    await store.close();
    await store.close();
  });
};
