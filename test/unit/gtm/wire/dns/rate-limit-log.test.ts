import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRateLimitLog } from "#gtm/wire/dns/rate-limit-log.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";

describe("a flood that is limited", () => {
  it("is told of once a minute, with what was counted since", () => {
    const clock = createManualClock();
    const log = recordingLog();
    const { tell } = createRateLimitLog({ limiter: { lastLimited: () => "192.0.2.0/24" }, clock, log });
    tell({ slip: 0, drop: 0 });
    assert.equal(log.lines.length, 0);
    for (let second = 0; second <= 60; second++) {
      tell({ slip: 1, drop: 2 });
      clock.advance(1_000);
    }
    const shown = log.lines.map(({ level, event, ...fields }) => [level, event, fields]);
    const lastSubnet = "192.0.2.0/24";
    assert.deepEqual(JSON.parse(JSON.stringify(shown)), [
      ["warn", "dns.rate-limited", { fields: { slipped: 1, dropped: 2, lastSubnet } }],
      ["warn", "dns.rate-limited", { fields: { slipped: 60, dropped: 120, lastSubnet } }],
    ]);
  });
});
