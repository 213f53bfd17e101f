/** Failed authentications: limited by network, told of once a minute, and bounded in memory. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFailedLogins } from "#gtm/wire/admin/failed-logins.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const setUp = () => {
  const clock = createManualClock();
  const log = recordingLog();
  return { clock, log, logins: createFailedLogins({ clock, log }) };
};

describe("failures of one network", () => {
  it("are told to wait after 60, and may go on as time passes", () => {
    const { clock, logins } = setUp();
    for (let times = 0; times < 60; times++) assert.equal(logins.failed("192.0.2.1"), null);
    assert.equal(logins.failed("192.0.2.1"), 2);
    assert.equal(logins.failed("192.0.2.200"), 2);
    clock.advance(1_000);
    assert.equal(logins.failed("192.0.2.1"), 1);
    clock.advance(1_000);
    assert.equal(logins.failed("192.0.2.1"), null);
    clock.advance(3_600_000);
    for (let times = 0; times < 60; times++) assert.equal(logins.failed("192.0.2.1"), null);
  });
  it("do not concern another network", () => {
    const { logins } = setUp();
    for (let times = 0; times < 100; times++) logins.failed("2001:db8:1::1");
    assert.equal(logins.failed("2001:db8:1:2::7"), 2);
    assert.equal(logins.failed("2001:db8:2::1"), null);
    assert.equal(logins.failed("198.51.100.1"), null);
    assert.equal(logins.failed(undefined), null);
  });
  it("are told of once a minute, by network and never by address", () => {
    const { clock, log, logins } = setUp();
    for (let times = 0; times < 100; times++) logins.failed("192.0.2.77");
    clock.advance(60_000);
    for (let times = 0; times < 100; times++) logins.failed("192.0.2.77");
    assert.deepEqual(
      log.lines.map(({ event, fields }) => [event, fields["network"], fields["failures"]]),
      [
        ["admin.logins-failing", "192.0.2.0/24", 61],
        ["admin.logins-failing", "192.0.2.0/24", 70],
      ],
    );
  });
});
