/** Tokens that were made through the API: kept by every GTM, revoked at every GTM, whatever becomes of the store. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createTokenStore } from "#gtm/datalayer/token-store.ts";
import { reconciledTokens, withToken } from "#gtm/datalayer/tokens.ts";
import { tokensKey, tokenUsedKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { MOST_RECORDED, MOST_TOKENS, type TokenRecord, TokensRecord } from "#shared/token-record.ts";
import { createFallibleStore, type FallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock, type ManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const NOW_MS = Date.UTC(2026, 10, 30);
const DAY_MS = 86_400_000;
const aToken = (id: string, wish: Partial<TokenRecord> = {}): TokenRecord => ({
  ...{ id, name: `the-${id}`, role: "viewer", sha256: id.charCodeAt(0).toString(16).padStart(64, "0") },
  ...{ names: null, regions: null, pools: null, tenants: null, comment: "c", createdBy: "root", createdWith: null },
  ...{ createdAtMs: NOW_MS, changedAtMs: NOW_MS, expiresAtMs: NOW_MS + 30 * DAY_MS },
  ...{ revokedAtMs: null, revokedBy: null },
  ...wish,
});

const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

const gtm = async (store: FallibleStore, clock: ManualClock) => {
  const log = recordingLog();
  const metrics = createMetrics();
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const failures = createStoreFailures({ log, clock, metrics });
  const tokens = createTokenStore({ store, clock, log, failures, degradations });
  running.push(tokens);
  await tokens.start();
  return Object.assign(tokens, { log, metrics, degradations, ids: () => tokens.current().map(({ id }) => id) });
};
const twoGtms = async () => {
  const clock = createManualClock(NOW_MS);
  const inner = createMemoryStore(clock);
  const [here, there] = [createFallibleStore(inner), createFallibleStore(inner)];
  return { clock, inner, here, there, a: await gtm(here, clock), b: await gtm(there, clock) };
};
const stored = async (store: { get: FallibleStore["get"] }): Promise<TokensRecord> =>
  TokensRecord.parse(JSON.parse((await store.get(tokensKey()))?.value ?? "null"));

describe("a token", () => {
  it("is known to the other GTM, to one that starts later, and its revocation too", async () => {
    const { a, b, here, clock } = await twoGtms();
    assert.equal(await a.add(aToken("a")), true);
    await until(() => b.ids().includes("a"));
    const revoked = await b.change("a", { revokedAtMs: NOW_MS, revokedBy: "root" }, null);
    assert.equal(revoked?.revokedAtMs, NOW_MS);
    await until(() => a.current()[0]?.revokedAtMs === NOW_MS);
    const later = await gtm(here, clock);
    assert.deepEqual(later.current(), b.current());
  });
  it("that is revoked or over cannot be changed, nor one that never was", async () => {
    const { a, clock } = await twoGtms();
    await a.add(aToken("a"));
    await a.add(aToken("b", { expiresAtMs: NOW_MS + 1_000 }));
    await a.change("a", { revokedAtMs: NOW_MS, revokedBy: "root" }, null);
    clock.advance(1_000);
    assert.equal(await a.change("a", { comment: "again" }, null), null);
    assert.equal(await a.change("b", { expiresAtMs: NOW_MS + DAY_MS }, null), null);
    assert.equal(await a.change("c", { comment: "x" }, null), null);
  });
  it("is put back by whoever knows it when the store comes back empty", async () => {
    const { a, b, inner } = await twoGtms();
    await a.add(aToken("a"));
    await until(() => b.ids().includes("a"));
    await inner.remove(tokensKey());
    await until(async () => (await inner.get(tokensKey())) !== null);
    assert.deepEqual(
      (await stored(inner)).tokens.map(({ id }) => id),
      ["a"],
    );
    assert.ok([...a.log.lines, ...b.log.lines].some(({ event }) => event === "tokens.restored"));
  });
  it("cannot be added while the store is away, and what is known goes on, with its age", async () => {
    const { a, here, clock } = await twoGtms();
    await a.add(aToken("a"));
    here.isAway = true;
    clock.advance(5_000);
    await assert.rejects(a.add(aToken("b")), { code: "GTM_STORE_UNREACHABLE" });
    assert.deepEqual(a.ids(), ["a"]);
    assert.equal(a.readAgoMs(), 5_000);
    assert.ok(((await metricValue(a.metrics, "gtm_store_failures_total", { operation: "tokens.write" })) ?? 0) >= 1);
  });
  it("which was revoked while one GTM was cut off is not brought back by it", async () => {
    const { a, b, there } = await twoGtms();
    await a.add(aToken("a"));
    await until(() => b.ids().includes("a"));
    there.isAway = true;
    await a.change("a", { revokedAtMs: NOW_MS, revokedBy: "root" }, null);
    assert.equal(b.current()[0]?.revokedAtMs, null);
    there.isAway = false;
    await until(() => b.current()[0]?.revokedAtMs === NOW_MS);
    assert.equal(a.current()[0]?.revokedAtMs, NOW_MS);
  });
  it("is one too many after the 500th, until one of them has expired", async () => {
    const { a, inner, clock } = await twoGtms();
    const tokens = Array.from({ length: MOST_TOKENS }, (_, at) => aToken(`t${at}`, { expiresAtMs: NOW_MS + DAY_MS }));
    await inner.put(tokensKey(), JSON.stringify({ v: 1, rev: 1, tokens }), null);
    await until(() => a.current().length === MOST_TOKENS);
    assert.equal(await a.add(aToken("x")), false);
    clock.advance(DAY_MS);
    assert.equal(await a.add(aToken("x")), true);
  });
  it("that stands in a record that is none is left alone, told of, and what is known goes on", async () => {
    const { a, inner } = await twoGtms();
    await a.add(aToken("a"));
    await inner.put(tokensKey(), '{"v":1,"rev":7,"tokens":[{}]}', null);
    await until(() => a.degradations.current().some(({ what }) => what === "tokens"));
    assert.deepEqual(a.ids(), ["a"]);
    assert.match((await inner.get(tokensKey()))?.value ?? "", /"rev":7/);
  });
});

describe("the last use", () => {
  it("is written once a minute, and known to every GTM", async () => {
    const { a, b, here, clock } = await twoGtms();
    for (let times = 0; times < 50; times++) a.used("a");
    assert.equal(here.calls["put"], 1);
    await until(async () => (await here.get(tokenUsedKey("a"))) !== null);
    assert.deepEqual([...(await b.lastUsed(["a", "never"]))], [["a", NOW_MS]]);
    clock.advance(60_000);
    a.used("a");
    assert.equal(here.calls["put"], 2);
  });
  it("is what this GTM knows where the store does not tell", async () => {
    const { a, here } = await twoGtms();
    a.used("a");
    here.isAway = true;
    assert.deepEqual([...(await a.lastUsed(["a"]))], [["a", NOW_MS]]);
  });
});

describe("two records that went apart", () => {
  const record = (rev: number, ...tokens: TokenRecord[]): TokensRecord => ({ v: 1, rev, tokens });
  it("are one with all tokens, the younger of each, and a revocation stays whoever is younger", () => {
    const one = record(4, aToken("a", { revokedAtMs: NOW_MS, revokedBy: "root" }), aToken("b", { comment: "old" }));
    const other = record(
      9,
      aToken("a", { changedAtMs: NOW_MS + 5, comment: "longer" }),
      aToken("b", { changedAtMs: NOW_MS + 1, comment: "new" }),
      aToken("c"),
    );
    const merged = reconciledTokens(one, other, NOW_MS);
    assert.deepEqual(merged.tokens, reconciledTokens(other, one, NOW_MS).tokens);
    assert.deepEqual(
      merged.tokens.map(({ id, comment, revokedAtMs }) => [id, comment, revokedAtMs]),
      [
        ["a", "longer", NOW_MS],
        ["b", "new", null],
        ["c", "c", null],
      ],
    );
  });
  it("are the found one itself where it has all that is known", () => {
    const found = record(9, aToken("a"), aToken("b"));
    assert.equal(reconciledTokens(record(4, aToken("a")), found, NOW_MS), found);
  });
  it("forget what expired more than a day ago", () => {
    const old = withToken(record(1), aToken("a", { expiresAtMs: NOW_MS + 1 }), NOW_MS);
    assert.equal(withToken(old, aToken("b"), NOW_MS + DAY_MS).tokens.length, 2);
    assert.equal(withToken(old, aToken("b"), NOW_MS + DAY_MS + 2).tokens.length, 1);
  });
  it("never hold more than can be read, and those that end first go", () => {
    const many = Array.from({ length: MOST_RECORDED }, (_, at) => aToken(`t${at}`, { expiresAtMs: NOW_MS + 1 + at }));
    const { tokens } = withToken(record(1, ...many), aToken("x"), NOW_MS + 2);
    assert.equal(tokens.length, MOST_RECORDED);
    assert.ok(tokens.some(({ id }) => id === "x") && !tokens.some(({ id }) => id === "t0"));
  });
});
