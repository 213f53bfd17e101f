/** What happened to a region, at the admin API and on the command line. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aPlacement, MODEL } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

type Event = { readonly at: string; readonly kind: string; readonly what: string; readonly isWorse: boolean };
const history = async (admin: RunningAdmin, query = "") =>
  (await admin.ask("GET", `/regions/paris/history${query}`)).body as {
    readonly items: readonly Event[];
    readonly next_cursor: string | null;
    readonly watchedSince: string;
  };
const seen = async (admin: RunningAdmin, count: number): Promise<readonly Event[]> => {
  await until(async () => (await history(admin)).items.length >= count, `${count} events`);
  return (await history(admin)).items;
};
const said = (events: readonly Event[]) => events.map(({ kind, what }) => `${kind}: ${what}`);

describe("GET /regions/{id}/history", () => {
  it("is empty at first, and says since when somebody looks", async () => {
    await using admin = await runningAdmin();
    const { items, watchedSince } = await history(admin);
    assert.deepEqual([items, watchedSince], [[], "2026-11-30T04:00:00.000Z"]);
  });
  it("tells an order with who and why, what follows from it, and its end", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/paris/drain", { body: { mode: "drain-new", comment: "driver update" } });
    assert.deepEqual(said(await seen(admin, 2)), [
      "candidacy: Keeps what it holds and takes nothing new. Draining: keeps the conversations it holds, takes no new ones.",
      "order: Drain-new ordered by loopback: driver update.",
    ]);
    await admin.ask("POST", "/regions/paris/undrain", { body: {} });
    assert.deepEqual(said(await seen(admin, 4)).slice(0, 2), [
      "candidacy: Takes new conversations. In service.",
      "order: No longer drain-new: taken back, or ended.",
    ]);
  });
  it("tells a silence from its first moment, and how long it was", async () => {
    await using admin = await runningAdmin();
    admin.gtm.clock.pass(12_000);
    admin.gtm.setRegion("paris", { reportAgeMs: 10_000, health: "degraded" });
    const events = await seen(admin, 2);
    assert.deepEqual(said(events), [
      "report: No report since 2026-11-30T04:00:02.000Z.",
      "health: Health healthy → degraded.",
    ]);
    assert.deepEqual(
      events.map(({ isWorse }) => isWorse),
      [true, true],
    );
    admin.gtm.clock.pass(20_000);
    admin.gtm.setRegion("paris", { reportAgeMs: 300, health: "healthy" });
    assert.deepEqual(said(await seen(admin, 4)).slice(0, 2), [
      "report: Reports again, after 30 s.",
      "health: Health degraded → healthy.",
    ]);
  });
  it("tells of models that come and go, and of agents that are missing", async () => {
    await using admin = await runningAdmin();
    admin.gtm.setRegion("paris", {
      isPartial: true,
      placements: new Map([[MODEL, aPlacement("paris", { state: "asleep" })]]),
    });
    assert.deepEqual(said(await seen(admin, 2)), [
      "placement: llama-70b: loaded → asleep.",
      "report: An agent is missing: counts are lower bounds.",
    ]);
  });
  it("is paged through", async () => {
    await using admin = await runningAdmin();
    const { setRegion } = admin.gtm;
    for (let at = 0; at < 3; at++) {
      setRegion("paris", { health: at % 2 === 0 ? "degraded" : "healthy" });
      await seen(admin, at + 1);
    }
    const first = await history(admin, "?limit=2");
    assert.deepEqual([first.items.length, first.next_cursor], [2, "2"]);
    const second = await history(admin, `?limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual([said(second.items), second.next_cursor], [["health: Health healthy → degraded."], null]);
    assert.equal((await admin.ask("GET", "/regions/paris/history?cursor=x")).status, 400);
    assert.equal((await admin.ask("GET", "/regions/nowhere/history")).status, 404);
  });
});

describe("gtm regions REGION --history", () => {
  it("shows it newest first, and needs a region", async () => {
    await using admin = await runningAdmin();
    admin.gtm.setRegion("paris", { health: "unhealthy" });
    await seen(admin, 2);
    admin.gtm.clock.pass(3_000);
    const { out, err } = await runCli(["regions", "paris", "--history", "--server", admin.url]);
    assert.equal(
      out,
      [
        "WHEN                    AGO  KIND       WHAT",
        "2026-11-30 04:00:00Z  3.0 s  candidacy  Serves nothing now. Does not answer its probe: serves nothing.",
        "2026-11-30 04:00:00Z  3.0 s  health     Health healthy → unhealthy.",
        "",
      ].join("\n"),
    );
    assert.equal(err, "As this GTM saw it since 2026-11-30 04:00:00Z.\n");
    assert.equal((await runCli(["regions", "--history", "--server", admin.url])).exitCode, 2);
  });
});
