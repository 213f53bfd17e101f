import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLiveWindow, KEPT } from "#gtm/wire/admin/dashboard/app/live-window.ts";
import type { ServerEvent } from "#gtm/wire/admin/server-events.ts";

const decision = (at: number, padding = ""): ServerEvent => ({
  ...{ id: `boot-${at}`, event: "decision" },
  data: JSON.stringify({ id: String(at), padding }),
});
const skipped = (decisions: number): ServerEvent => ({
  id: null,
  event: "skipped",
  data: JSON.stringify({ decisions }),
});

describe("what a page keeps of a stream of decisions", () => {
  it("is taken once, newest first", () => {
    const window = createLiveWindow(() => 0);
    for (const at of [1, 2, 3]) window.add(decision(at), false);
    assert.deepEqual(
      window.take().come.map(({ id }) => id),
      ["3", "2", "1"],
    );
    assert.deepEqual(window.take().come, []);
  });
  it("counts what was not told, what came while it was paused, and gaps", () => {
    const window = createLiveWindow(() => 0);
    window.add(decision(1), true);
    window.add(skipped(800), false);
    window.add(skipped(200), true);
    window.add({ id: null, event: "gap", data: '{"after":"other-7"}' }, false);
    window.add({ id: "boot-2", event: "region", data: "{}" }, false);
    const { come, unseen } = window.take();
    assert.deepEqual([come, unseen], [[], { skipped: 1_000, paused: 1, gaps: 1, perSecond: 200 }]);
    assert.equal(window.take().unseen, unseen, "nothing new is the same object");
  });
  it("says how many a second there are while they come too fast, and no more once all are told", () => {
    let nowMs = 0;
    const window = createLiveWindow(() => nowMs);
    for (let at = 0; at < 20; at++) window.add(decision(at), false);
    nowMs = 1_250;
    window.add(skipped(1_230), false);
    assert.equal(window.take().unseen.perSecond, 1_000);
    nowMs = 4_500;
    window.add(decision(21), false);
    assert.equal(window.take().unseen.perSecond, null);
    assert.equal(window.take().unseen.skipped, 1_230);
  });
  it("is as little after a day of 200 decisions a second that nobody took as after a minute", () => {
    const window = createLiveWindow(() => 0);
    const day = 200 * 86_400;
    const one = decision(0);
    for (let at = 0; at < day; at++) window.add(one, false);
    window.add(decision(day), false);
    const { come } = window.take();
    assert.equal(come.length, KEPT);
    assert.equal(come[0]?.id, String(day));
  });
});
