/** What the doctor says of GTMs that share a store: read as they tell each other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Finding } from "#gtm/doctor/finding.ts";
import { readInstanceFacts } from "#gtm/doctor/instance-facts.ts";
import { instanceFindings } from "#gtm/doctor/instances.ts";
import { InstanceId, RegionId } from "#shared/ids.ts";
import { instancesKey, KEYS, sentKey } from "#shared/keys.ts";
import type { InstanceSays, SentRecord } from "#shared/records.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { faultsIn } from "#test/support/doctor-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const CONFIG = { pools: "p1", models: "m1" };
const [FRANKFURT, PARIS] = [RegionId.parse("frankfurt"), RegionId.parse("paris")];

const says = (wish: Partial<InstanceSays> = {}): InstanceSays => ({
  config: CONFIG,
  ordersRev: 3,
  areAgesFrozen: false,
  reports: [["frankfurt/a1", "b1", 7]],
  answers: [["chat from 192.0.2.0/24", FRANKFURT]],
  ...wish,
});
const record = (wish: Partial<SentRecord> = {}): SentRecord => ({
  ...{ v: 1, sends: [], live: [], cells: [], boot: "b1", version: "0.1.0", says: says() },
  ...wish,
});
type Values = Readonly<Record<string, SentRecord | string | null>>;

/** What each GTM's key holds, round by round; null: nothing. */
const heard = async (rounds: readonly Values[]) => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const put = async (values: Values): Promise<void> => {
    for (const [id, value] of Object.entries(values)) {
      const key = sentKey(InstanceId.parse(id));
      if (value === null) await store.remove(key);
      else await store.put(key, typeof value === "string" ? value : JSON.stringify(value), KEYS.sent.ttlMs);
    }
  };
  for (const id of Object.keys(rounds[0] ?? {})) await store.indexAdd(instancesKey(), id, clock.epochMs());
  const [first = {}, ...others] = rounds;
  await put(first);
  clock.advance(2_000);
  const pause = async (): Promise<void> => put(others.shift() ?? {});
  return { store, clock, facts: await readInstanceFacts(store, { times: rounds.length, pause }) };
};
type LookWish = { readonly config?: Readonly<Record<string, string>>; readonly aheadMs?: number };
const look = async (rounds: readonly Values[], wish: LookWish = {}) => {
  const { facts, clock } = await heard(rounds);
  const nowEpochMs = clock.epochMs();
  const listReadAtMs = nowEpochMs - (wish.aheadMs ?? 0);
  return instanceFindings({ facts, instance: "gtm-1", config: wish.config ?? CONFIG, nowEpochMs, listReadAtMs });
};
const saying = (findings: readonly Finding[]): string => findings.map(({ what }) => what).join("\n");
const twice = (values: Values): readonly Values[] => [values, values];

describe("two GTMs on one store", () => {
  it("that answer alike are in order", async () => {
    const findings = await look(twice({ "gtm-1": record(), "gtm-2": record({ boot: "b2" }) }));
    assert.deepEqual(faultsIn(findings), []);
    assert.match(saying(findings), /^2 GTMs on this store: gtm-\d and gtm-\d; they agree\.$/);
  });
  it("with different configurations are a problem, part by part", async () => {
    const other = record({ boot: "b2", says: says({ config: { ...CONFIG, pools: "p2" } }) });
    const findings = await look(twice({ "gtm-1": record(), "gtm-2": other }));
    assert.deepEqual(faultsIn(findings), ["problem instances-config"]);
    assert.match(saying(findings), /are configured differently: pools;/);
  });
  it("of different versions are told of", async () => {
    const findings = await look(twice({ "gtm-1": record(), "gtm-2": record({ boot: "b2", version: "0.2.0" }) }));
    assert.deepEqual(faultsIn(findings), ["warning instances-versions"]);
  });
  const other = record({ boot: "b2", says: says({ answers: [["chat from 192.0.2.0/24", PARIS]] }) });
  it("that answer differently each time they are asked disagree", async () => {
    const findings = await look(twice({ "gtm-1": record(), "gtm-2": other }));
    assert.deepEqual(faultsIn(findings), ["problem instances-disagree"]);
    assert.match(saying(findings), /1 question differently on the same state, such as chat from 192\.0\.2\.0\/24/);
  });
  it("that answered differently once do not", async () => {
    const rounds = [
      { "gtm-1": record(), "gtm-2": record({ boot: "b2" }) },
      { "gtm-1": record(), "gtm-2": other },
    ];
    assert.deepEqual(faultsIn(await look(rounds)), []);
  });
  it("that rest on other orders do not", async () => {
    const behind = record({ boot: "b2", says: { ...(other.says ?? says()), ordersRev: 2 } });
    assert.deepEqual(faultsIn(await look(twice({ "gtm-1": record(), "gtm-2": behind }))), []);
  });
  it("under one name overwrite each other", async () => {
    const rounds = ["b1", "b2", "b1"].map((boot) => ({ "gtm-1": record({ boot }) }));
    const findings = await look(rounds);
    assert.deepEqual(faultsIn(findings), ["problem instance-double"]);
    assert.match(saying(findings), /^Two GTMs call themselves gtm-1/);
  });
});

describe("a GTM", () => {
  it("that was restarted meanwhile is one", async () => {
    const rounds = ["b1", "b1", "b2", "b2"].map((boot) => ({ "gtm-1": record({ boot }) }));
    assert.deepEqual(faultsIn(await look(rounds)), []);
  });
  it("that is listed and says nothing is missed", async () => {
    const findings = await look(twice({ "gtm-1": record(), "gtm-2": null }));
    assert.deepEqual(faultsIn(findings), ["warning instance-silent"]);
    assert.match(saying(findings), /gtm-2 was on this store 2\.0 s ago/);
  });
  it("whose word is no record is not heard", async () => {
    assert.deepEqual(faultsIn(await look(twice({ "gtm-1": "{" }))), ["warning instance-unheard"]);
    assert.deepEqual(faultsIn(await look(twice({ "gtm-1": '{"v":2}' }))), ["warning instance-unheard"]);
  });
  it("of an earlier version, which says less, is in order", async () => {
    const old = JSON.stringify({ v: 1, sends: [], live: [], cells: [] });
    assert.deepEqual(faultsIn(await look(twice({ "gtm-1": old }))), []);
  });
  it("that runs with another file than this is told of, and another GTM is not", async () => {
    const config = { ...CONFIG, models: "m2" };
    assert.deepEqual(faultsIn(await look(twice({ "gtm-1": record() }), { config })), ["warning instance-other-config"]);
    assert.deepEqual(faultsIn(await look(twice({ "gtm-9": record() }), { config })), []);
  });
});

describe("a GTM whose clock is 60 s ahead of the store's", () => {
  it("is named with what harm that does", async () => {
    const findings = await look(twice({ "gtm-1": record() }), { aheadMs: 62_000 });
    assert.deepEqual(faultsIn(findings), ["warning instance-clock"]);
    assert.match(saying(findings), /^The clock of gtm-1 is 60 s ahead of the store's: its orders end/);
  });
});

describe("nobody's store", () => {
  it("has no GTM, which harms nobody", async () => assert.deepEqual(faultsIn(await look([{}])), ["unknown instances"]));
  it("that cannot be read is unknown", async () => {
    const { store } = await heard([{}]);
    store.isAway = true;
    const facts = await readInstanceFacts(store, { times: 1, pause: async () => {} });
    assert.equal(facts.kind, "unknown");
    const findings = instanceFindings({ facts, instance: "gtm-1", config: {}, nowEpochMs: 0, listReadAtMs: null });
    assert.deepEqual(faultsIn(findings), ["unknown instances"]);
  });
});
