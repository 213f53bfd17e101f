/** Orders by the command line: shown, asked about, given, waited for, refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aRegion, regionId } from "#test/support/builders.ts";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DRAIN = ["drain", "frankfurt", "--mode", "drain-all", "--comment", "driver update"];
const run = (admin: RunningAdmin, words: readonly string[], terminal: Terminal = {}) =>
  runCli([...words, "--server", admin.url], terminal);
const ordered = (admin: RunningAdmin) => admin.gtm.ports.orders.current().regions.map(({ admin: state }) => state);

describe("gtm drain --dry-run", () => {
  it("prints the plan as data and changes nothing", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await run(admin, [...DRAIN, "--for", "2h", "--dry-run"]);
    assert.deepEqual([exitCode, err], [0, ""]);
    assert.equal(
      out.replace(/\np1-[0-9a-z-]+\n$/, "\np1-…\n"),
      `frankfurt: active → drain-all, until 2026-11-30 06:00:00Z (in 2 h 0 min)

1 conversation is at home in frankfurt: 1 pinned (1 hot), 0 idle. Their next turns:
TO         NOW  UNDER THE ORDER
frankfurt    1                0
paris        0                1
Of 1 the client's network is not known: for them every region is equally far.

1 goes elsewhere with 20 000 tokens: 20 000 to compute again, 4.0 s of one replica's GPUs. First
token p95: now 202 ms, then 4.50 s.
REGION  COMING  TOKENS AGAIN  SPARE TOKENS/S   THEN  KV USED  THEN
paris        1        20 000           5 000  4 978     0.10  0.15

busy with them           llama-70b in paris: KV memory 0.10 → 0.20, prefill 0.00 → 0.00
models without a region  none
models to load first     none

Resolvers: up to 20 s until answers expire. Pool names cannot tell old clients from new: all of them
get other regions, as resolvers' answers expire. Names of conversations follow.

For five minutes --plan-id carries it out only as long as it holds:
p1-…
`,
    );
    assert.ok(out.split("\n").every((line) => line.length <= 100));
    assert.deepEqual(ordered(admin), []);
  });
  it("as JSON is the API's plan", async () => {
    await using admin = await runningAdmin();
    const plan = JSON.parse((await run(admin, [...DRAIN, "--dry-run", "-o", "json"])).out);
    assert.deepEqual([plan.to, plan.conversations.home], ["drain-all", 1]);
  });
});

describe("an order on a terminal", () => {
  it("shows the plan on standard error, asks, and is given on yes", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await run(admin, DRAIN, { answers: ["yes"] });
    assert.match(
      err,
      /^frankfurt: active → drain-all, until taken back\n[\s\S]*\ndrain frankfurt\? \[y\/N\] `gtm undrain frankfurt` takes it back\.\n$/,
    );
    assert.deepEqual(
      [exitCode, out],
      [0, "frankfurt: drain-all, until taken back. Being drained: every conversation leaves at its next turn.\n"],
    );
    assert.deepEqual(ordered(admin), ["drain-all"]);
  });
  for (const answer of ["", "n", "no", "yep", "yes please"]) {
    it(`is not given on "${answer}"`, async () => {
      await using admin = await runningAdmin();
      const { exitCode, err } = await run(admin, DRAIN, { answers: [answer] });
      assert.equal(exitCode, 1);
      assert.match(err, /not confirmed; nothing was changed\n$/);
      assert.deepEqual(ordered(admin), []);
    });
  }
  it("is refused with exit 5 where somebody ordered something else while it was asked about", async () => {
    await using admin = await runningAdmin();
    const onAsk = () => admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "power" } });
    const { exitCode, err } = await run(admin, DRAIN, { answers: ["y"], onAsk });
    assert.equal(exitCode, 5);
    assert.match(err, /Somebody ordered something else of frankfurt meanwhile: it is down now\.\n$/);
    assert.deepEqual(ordered(admin), ["down"]);
  });
});

describe("an order without a terminal", () => {
  it("is a usage error that says what to add, and nothing is asked of the GTM", async () => {
    const { exitCode, err } = await runCli([...DRAIN, "--server", "http://127.0.0.1:9"]);
    assert.equal(exitCode, 2);
    assert.equal(
      err,
      "gtm: nobody is there to be asked (no terminal): add --yes to drain frankfurt, or --dry-run to see what it would change\n",
    );
  });
  it("with --yes is given", async () => {
    await using admin = await runningAdmin();
    for (const [words, state] of [
      [[...DRAIN, "--for", "2h"], ["drain-all"]],
      [["undrain", "frankfurt", "--comment", "updated"], []],
      [["down", "frankfurt", "--comment", "power"], ["down"]],
      [["up", "frankfurt"], []],
      [["up", "frankfurt", "--forced", "--comment", "probe"], ["forced-up"]],
    ] as const) {
      assert.equal((await run(admin, [...words, "--yes"])).exitCode, 0, words.join(" "));
      assert.deepEqual(ordered(admin), state, words.join(" "));
    }
  });
});

describe("an order that a safety rule forbids", () => {
  const LONELY = { regions: [aRegion("frankfurt"), aRegion("paris", { placement: null })] };
  const rule = "minRegionsPerModel";
  for (const [how, terminal, more] of [
    ["with --yes", {}, ["--yes"]],
    ["on a terminal, before it asks", { answers: ["y"] }, []],
    ["as a preview", {}, ["--dry-run"]],
  ] as const) {
    it(`is exit 4 ${how}, and says how to do it all the same`, async () => {
      await using admin = await runningAdmin(LONELY);
      const { exitCode, out, err } = await run(admin, [...DRAIN, ...more], terminal);
      assert.equal(exitCode, 4);
      assert.match(err, new RegExp(`--override-rule ${rule} does it all the same\\.\n$`));
      assert.match(`${out}${err}`, /llama-70b of pool chat would have no region that takes new conversations/);
      assert.deepEqual(ordered(admin), []);
    });
  }
  it("is given with --override-rule", async () => {
    await using admin = await runningAdmin(LONELY);
    for (const [more, terminal] of [
      [["--yes"], {}],
      [[], { answers: ["y"] }],
    ] as const) {
      const { exitCode } = await run(admin, [...DRAIN, "--override-rule", rule, ...more], terminal);
      assert.equal(exitCode, 0);
    }
    assert.deepEqual(ordered(admin), ["drain-all"]);
  });
});

describe("an order that the region's state does not allow", () => {
  it("is exit 5 and names the verb that does", async () => {
    await using admin = await runningAdmin();
    await run(admin, [...DRAIN, "--yes"]);
    const { exitCode, err } = await run(admin, ["up", "frankfurt", "--yes"]);
    assert.deepEqual(
      [exitCode, err],
      [5, "gtm: frankfurt is draining (drain-all), not down; `undrain` takes that back.\n"],
    );
  });
});

describe("wrong use", () => {
  const cases: readonly { words: readonly string[]; says: RegExp }[] = [
    { words: ["drain", "frankfurt", "--comment", "x"], says: /required option '--mode <mode>' not specified/ },
    { words: ["drain", "frankfurt", "--mode", "drain-all"], says: /required option '--comment <text>' not specified/ },
    {
      words: ["drain", "frankfurt", "--mode", "gently", "--comment", "x"],
      says: /Allowed choices are drain-new, drain-all/,
    },
    { words: ["drain", "--mode", "drain-all", "--comment", "x"], says: /missing required argument 'region'/ },
    { words: [...DRAIN, "--for", "100"], says: /must be a duration with its unit/ },
    { words: [...DRAIN, "--override-rule", "all"], says: /Allowed choices are minActiveRegions, minRegionsPerModel/ },
    {
      words: ["drain", "frankfurt", "--mode", "drain-new", "--comment", "x", "--wait", "--yes"],
      says: /--wait needs --mode drain-all/,
    },
    { words: ["down", "frankfurt"], says: /required option '--comment <text>'/ },
    { words: ["up", "frankfurt", "--forced", "--yes"], says: /--forced needs --comment/ },
    { words: ["drian", "frankfurt"], says: /unknown command 'drian'\n\(Did you mean drain\?\)/ },
    { words: ["status", "-o", "xml"], says: /Allowed choices are table, json, jsonl/ },
    { words: ["decisions", "list", "--limit", "0"], says: /must be a whole number, 1 or more/ },
  ];
  for (const { words, says } of cases) {
    it(`(${words.join(" ").slice(0, 60)}) is exit 2`, async () => {
      const { exitCode, out, err } = await runCli(words);
      assert.equal(exitCode, 2);
      assert.match(err, says);
      assert.match(err, /^gtm: /);
      assert.equal(out, "");
    });
  }
  it("of how long an order stands is found out by the API", async () => {
    await using admin = await runningAdmin();
    const { exitCode, err } = await run(admin, [...DRAIN, "--for", "100h", "--yes"]);
    assert.deepEqual([exitCode, err], [2, "gtm: for: must be from 1s to 72h\n"]);
  });
});

describe("gtm drain --wait", () => {
  it("is done once nothing is held there any more, as the GTM verified, and tells how many are", async () => {
    await using admin = await runningAdmin();
    let slept = 0;
    const onSleep = () => {
      slept += 1;
      const [operation] = admin.gtm.state.orders.operations ?? [];
      if (slept === 3 && operation !== undefined) void admin.gtm.ports.orders.verifyOperation(operation.id);
    };
    const { exitCode, err } = await run(admin, [...DRAIN, "--over", "10m", "--yes", "--wait"], { onSleep });
    assert.equal(exitCode, 0);
    assert.match(
      err,
      /\n1 of 1 pinned conversations are still in frankfurt, 20 000 tokens; done in at most 15 min \(0\.0 s\)\nNothing is held in frankfurt any more: .* \(6\.0 s\)\n$/,
    );
    assert.equal(slept, 3);
  });
  it("is exit 6 when that takes longer than it is told to, and the drain goes on", async () => {
    await using admin = await runningAdmin();
    const { exitCode, err } = await run(admin, [...DRAIN, "--yes", "--wait", "20s"]);
    assert.equal(exitCode, 6);
    assert.match(err, /after 20 s 1 of 1 pinned conversations are still in frankfurt, .*; the drain goes on\n$/);
    assert.deepEqual(ordered(admin), ["drain-all"]);
  });
  it("is exit 5 when somebody takes the drain back meanwhile", async () => {
    await using admin = await runningAdmin();
    const onSleep = () => void admin.gtm.ports.orders.undo(regionId("frankfurt"), "bob");
    const { exitCode, err } = await run(admin, [...DRAIN, "--yes", "--wait"], { onSleep });
    assert.equal(exitCode, 5);
    assert.match(err, /the drain ended otherwise \(cancelled\): Taken back by bob\.\n$/);
  });
});

describe("a plan's id", () => {
  it("carries out what was read, and is exit 5 once that no longer holds", async () => {
    await using admin = await runningAdmin();
    const words = [...DRAIN, "--over", "10m"];
    const { planId } = JSON.parse((await run(admin, [...words, "--dry-run", "-o", "json"])).out);
    const other = await run(admin, [...DRAIN, "--over", "5m", "--plan-id", planId, "--yes"]);
    assert.equal(other.exitCode, 5);
    assert.match(other.err, /The plan no longer holds: it is of another order/);
    assert.equal((await run(admin, [...words, "--plan-id", planId, "--yes"])).exitCode, 0);
    assert.equal((await run(admin, [...words, "--plan-id", "no plan", "--yes"])).exitCode, 2);
  });
});

describe("a drain of some traffic", () => {
  it("is an override, followed and taken back as an operation", async () => {
    await using admin = await runningAdmin();
    const words = [...DRAIN, "--model", "llama*", "--over", "10m"];
    const without = await run(admin, [...words, "--yes"]);
    assert.deepEqual([without.exitCode, ordered(admin)], [2, []]);
    assert.match(without.err, /--pool, --model and --tenant need --for/);
    const { exitCode, err } = await run(admin, [...words, "--for", "2h", "--yes", "--wait", "2s"]);
    assert.equal(exitCode, 6);
    assert.match(err, /still in frankfurt/);
    const [override] = admin.gtm.state.orders.overrides;
    assert.deepEqual([override?.kind, override?.model, override?.operation], ["drain-all", "llama*", override?.id]);
    assert.equal((override?.schedule?.endsAtMs ?? 0) > (override?.schedule?.startsAtMs ?? 0), true);
    const cancelled = await run(admin, ["operations", "cancel", override?.id ?? ""], { answers: ["y"] });
    assert.equal(cancelled.exitCode, 0);
    assert.match(cancelled.out, /^drain-all of frankfurt for model llama\*: cancelled\nTaken back by loopback\.\n/);
    assert.deepEqual(
      admin.gtm.state.orders.overrides.filter(({ expiresAtMs }) => expiresAtMs > admin.gtm.clock.epochMs()),
      [],
    );
  });
});

describe("gtm operations", () => {
  it("lists, shows and watches", async () => {
    await using admin = await runningAdmin();
    await run(admin, [...DRAIN, "--over", "10m", "--yes"]);
    const { out } = await run(admin, ["operations", "list", "--state", "running"]);
    assert.match(
      out,
      /^OPERATION +STATE +MODE +OF +LEFT +OF +ETA +SINCE +BY\n\w+ +running +drain-all +frankfurt +1 +1 +15 min/,
    );
    assert.match((await run(admin, ["operations", "list", "--state", "expired"])).err, /Nothing matches/);
    const id = admin.gtm.state.orders.operations?.[0]?.id ?? "";
    const shown = await run(admin, ["operations", "show", id]);
    assert.match(shown.out, /left +1 pinned of 1, 20 000 tokens, 1 requests in engines\n/);
    const onSleep = () => void admin.gtm.ports.orders.verifyOperation(id);
    const watched = await run(admin, ["operations", "watch", id], { onSleep });
    assert.match(watched.out, /^drain-all of frankfurt: verified-empty\n/);
    assert.match((await run(admin, ["operations", "cancel", id, "--yes"])).err, /has ended \(verified-empty\)/);
    assert.equal((await run(admin, ["operations", "show", "nothing"])).exitCode, 1);
  });
});
