/** The world file: when it is written and read, and what becomes of it when the disk or what stands on it is not as it should be. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { NO_ORDERS, withOrder } from "#gtm/datalayer/orders.ts";
import { createWorldFile, type SavedWorld, type WorldFileOptions } from "#gtm/datalayer/world-file.ts";
import { readWhole, replaceWhole, sweepBeside } from "#gtm/datalayer/world-file-disk.ts";
import { WorldFile } from "#gtm/datalayer/world-file-format.ts";
import { createMetrics } from "#shared/metrics.ts";
import { regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const HOUR_MS = 3_600_000;
const orders = withOrder(NO_ORDERS, {
  ...{ region: regionId("paris"), admin: "down", comment: "power", actor: "ops", orderedAtMs: 1, expiresAtMs: null },
});
const WORLD: SavedWorld = {
  reports: [{ ageMs: 700, report: JSON.parse(JSON.stringify(aReport("frankfurt"))) }],
  orders,
  cells: [{ cell: "chat|DE|4", region: regionId("frankfurt") }],
};

type Set = Disposable & ReturnType<typeof setUp>;
const setUp = (wish: Partial<WorldFileOptions> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "world-file-"));
  const path = join(folder, "world.json");
  const [clock, log, metrics] = [createManualClock(), recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log, metrics });
  const state = { isStoreUp: true, world: WORLD };
  const given: { readonly saved: SavedWorld; readonly savedForMs: number }[] = [];
  const made = () =>
    createWorldFile({
      ...{ path, clock, log, metrics, degradations, instance: "gtm-1" },
      isStoreUp: () => state.isStoreUp,
      take: () => state.world,
      give: (saved, savedForMs) => given.push({ saved, savedForMs }),
      ...wish,
    });
  return {
    ...{ folder, path, clock, log, metrics, degradations, state, given, made },
    file: made(),
    written: () => WorldFile.parse(JSON.parse(readFileSync(path, "utf8"))),
    writes: (outcome: string) => metricValue(metrics, "gtm_world_file_writes_total", { outcome }),
    reads: (outcome: string) => metricValue(metrics, "gtm_world_file_reads_total", { outcome }),
    warned: () => log.lines.filter(({ level }) => level === "warn").map(({ event }) => event),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
};
/** Started and stopped once: what a GTM leaves behind. */
const left = async (set: Set): Promise<void> => {
  await set.file.start();
  await set.file.stop();
};

describe("a GTM that starts where there is no file", () => {
  it("is given nothing, is not degraded, and leaves one that its owner alone can read", async () => {
    using set = setUp();
    await left(set);
    assert.deepEqual([set.given, set.warned(), set.degradations.current()], [[], [], []]);
    assert.equal(await set.reads("absent"), 1);
    assert.deepEqual(set.written(), { v: 1, savedAtMs: set.clock.epochMs(), instance: "gtm-1", ...WORLD });
    assert.equal(statSync(set.path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(set.folder), ["world.json"]);
  });
  it("keeps none where none is configured", async () => {
    using set = setUp({ path: null });
    await left(set);
    assert.deepEqual(readdirSync(set.folder), []);
  });
});

describe("while the GTM runs, the file", () => {
  it("is written every 5 s while the store is there, and not while it is away", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    using set = setUp();
    await set.file.start();
    test.mock.timers.tick(5_000);
    await until(async () => (await set.writes("written")) === 1);
    const { savedAtMs } = set.written();
    set.state.isStoreUp = false;
    set.clock.advance(5_000);
    test.mock.timers.tick(5_000);
    await set.file.stop();
    assert.equal(set.written().savedAtMs, savedAtMs);
    assert.equal(await set.writes("written"), 1);
  });
  it("is not written twice at once where the disk is slow, and says so where it does not answer at all", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
    let [running, most] = [0, 0];
    const slow = Promise.withResolvers<void>();
    const disk = {
      ...{ readWhole, sweepBeside },
      replaceWhole: async (path: string, text: string) => {
        most = Math.max(most, ++running);
        await slow.promise;
        await replaceWhole(path, text);
        running -= 1;
      },
    };
    using set = setUp({ disk });
    await set.file.start();
    test.mock.timers.tick(5_000);
    test.mock.timers.tick(10_000);
    await until(() => set.degradations.current().length === 1);
    test.mock.timers.tick(5_000);
    assert.match(set.degradations.current()[0]?.reason ?? "", /no answer of the disk within 10000 ms/);
    assert.equal(await set.writes("late"), 1);
    slow.resolve();
    await until(() => running === 0);
    await set.file.stop();
    assert.equal(most, 1);
    assert.deepEqual(set.degradations.current(), []);
  });
});

describe("a file that is found at start", () => {
  it("is given back with how long ago it was saved", async () => {
    using set = setUp();
    await left(set);
    set.clock.advance(3 * HOUR_MS);
    await set.made().start();
    assert.deepEqual(set.given, [{ saved: WORLD, savedForMs: 3 * HOUR_MS }]);
    assert.equal(await set.reads("used"), 1);
  });
  const clocks: readonly { when: string; byMs: number; outcome: string; savedForMs: number; reports: number }[] = [
    { when: "the clock was set an hour ahead", byMs: HOUR_MS, outcome: "used", savedForMs: HOUR_MS, reports: 1 },
    { when: "the clock was set an hour back", byMs: -HOUR_MS, outcome: "ahead", savedForMs: 0, reports: 1 },
    { when: "it is a day old", byMs: 24 * HOUR_MS, outcome: "used", savedForMs: 24 * HOUR_MS, reports: 1 },
    { when: "it is older than a day", byMs: 24 * HOUR_MS + 1, outcome: "too-old", savedForMs: 0, reports: 0 },
    { when: "it is from a day ahead", byMs: -24 * HOUR_MS - 1, outcome: "future", savedForMs: 0, reports: 0 },
  ];
  for (const { when, byMs, outcome, savedForMs, reports } of clocks) {
    it(`gives its orders and ${reports === 0 ? "no report" : "its reports"} when ${when}`, async () => {
      using set = setUp();
      await left(set);
      set.clock.setEpochMs(set.clock.epochMs() + byMs);
      await set.made().start();
      assert.deepEqual(
        set.given.map((one) => [one.saved.orders, one.saved.reports.length, one.savedForMs]),
        [[orders, reports, savedForMs]],
      );
      assert.equal(await set.reads(outcome), 1);
      assert.equal(set.warned().length > 0, outcome !== "used");
    });
  }

  const harmful: readonly { what: string; make: (path: string) => void; outcome: string }[] = [
    { what: "garbage", make: (path) => writeFileSync(path, "\0\u00ff{{"), outcome: "not-json" },
    { what: "empty", make: (path) => writeFileSync(path, ""), outcome: "not-json" },
    { what: "a list", make: (path) => writeFileSync(path, "[1,2]"), outcome: "schema" },
    { what: "of a later version", make: (path) => writeFileSync(path, '{"v":2,"regions":{}}'), outcome: "version" },
    { what: "a folder", make: (path) => mkdirSync(path), outcome: "unreadable" },
    { what: "a device without end", make: (path) => symlinkSync("/dev/zero", path), outcome: "unreadable" },
    {
      what: "larger than any world",
      make: (path) => {
        writeFileSync(path, "");
        truncateSync(path, 80_000_000);
      },
      outcome: "unreadable",
    },
  ];
  for (const { what, make, outcome } of harmful) {
    it(`is refused, told of and counted when it is ${what}`, async () => {
      using set = setUp();
      make(set.path);
      await set.file.start();
      assert.deepEqual(set.given, []);
      assert.equal(await set.reads(outcome), 1);
      assert.ok(set.warned().includes("world-file.refused"));
      assert.deepEqual(
        set.degradations.current().map((one) => one.what),
        ["world"],
      );
    });
  }
  it("that was refused is replaced once the store is there, and then nothing is degraded", async () => {
    using set = setUp();
    writeFileSync(set.path, "{");
    await left(set);
    assert.deepEqual(set.written().orders, orders);
    assert.deepEqual(set.degradations.current(), []);
  });
});

describe("a file that cannot be written", () => {
  const faults: readonly { what: string; spoil: (set: Set) => void; mend: (set: Set) => void }[] = [
    {
      what: "its folder vanished",
      spoil: ({ folder }) => rmSync(folder, { recursive: true }),
      mend: ({ folder }) => mkdirSync(folder),
    },
    {
      what: "a folder stands where it is to be written beside",
      spoil: ({ path }) => mkdirSync(`${path}.${process.pid}.new`),
      mend: ({ path }) => rmSync(`${path}.${process.pid}.new`, { recursive: true }),
    },
  ];
  for (const { what, spoil, mend } of faults) {
    it(`because ${what} is counted and told of, and written again when that is mended`, async (test) => {
      test.mock.timers.enable({ apis: ["setInterval"] });
      using set = setUp();
      await set.file.start();
      spoil(set);
      test.mock.timers.tick(5_000);
      await until(async () => (await set.writes("failed")) === 1);
      await until(() => set.degradations.current().length === 1);
      assert.ok(set.warned().includes("world-file.write-failed"));
      mend(set);
      await set.file.stop();
      assert.deepEqual(set.written().orders, orders);
      assert.deepEqual(set.degradations.current(), []);
    });
  }
});

describe("what a killed process left beside the file", () => {
  it("is removed at start once it is old, and what may be being written is not, nor anything that is not ours", async () => {
    using set = setUp();
    const old = (set.clock.epochMs() - 61_000) / 1_000;
    const young = (set.clock.epochMs() - 1_000) / 1_000;
    for (const [name, at] of [
      ["world.json.123.new", old],
      ["world.json.124.new", young],
      ["world.json.bak.new", old],
      ["other.json.123.new", old],
    ] as const) {
      writeFileSync(join(set.folder, name), "{");
      utimesSync(join(set.folder, name), at, at);
    }
    await set.file.start();
    assert.deepEqual(readdirSync(set.folder).sort(), [
      "other.json.123.new",
      "world.json.124.new",
      "world.json.bak.new",
    ]);
    await set.file.stop();
  });
});
