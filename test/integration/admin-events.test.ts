/** The live stream of the admin API over a real socket: what it carries, resuming, slow readers, shutdown. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { type ServerEvent, serverEvents } from "#gtm/wire/admin/server-events.ts";
import { CONVERSATION } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const stream = async (admin: RunningAdmin, query = "", headers: Record<string, string> = {}) => {
  const aborter = new AbortController();
  const response = await fetch(`${admin.url}/api/v1/events${query}`, { headers, signal: aborter.signal });
  assert.ok(response.body);
  const events = serverEvents(response.body);
  return {
    response,
    take: async (count: number): Promise<ServerEvent[]> => {
      const taken: ServerEvent[] = [];
      while (taken.length < count) {
        const { value, done } = await events.next();
        if (done === true) break;
        taken.push(value);
      }
      return taken;
    },
    leave: () => aborter.abort(),
  };
};

/** Waits until a condition holds; the test's own deadline ends it. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};
const readers = (admin: RunningAdmin) => metricValue(admin.metrics, "gtm_admin_event_readers");

describe("a reader of /events", () => {
  it("hears of decisions as they are made, each the whole view under its id", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const reader = await stream(admin);
    assert.equal(reader.response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(reader.response.headers.get("cache-control"), "no-store");
    const { decision } = admin.gtm.decide({ conversationId: CONVERSATION });
    const [event] = await reader.take(1);
    assert.equal(event?.event, "decision");
    const shown = await admin.ask("GET", `/decisions/${decision.id}`);
    assert.deepEqual(JSON.parse(event?.data ?? ""), shown.body);
    reader.leave();
  });

  it("hears of a region's change", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const reader = await stream(admin);
    await admin.ask("POST", "/regions/paris/down", { body: { comment: "x" } });
    const [event] = await reader.take(1);
    assert.equal(event?.event, "region");
    assert.deepEqual(JSON.parse(event?.data ?? ""), {
      at: "2026-11-30T04:00:00.000Z",
      region: "paris",
      changes: [{ field: "admin", from: "active", to: "down" }],
    });
    reader.leave();
  });

  it("hears only of what it asked for", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const reader = await stream(
      admin,
      `?kinds=decision&verdict=pinned&pool=chat&channel=http&region=frankfurt&conversation=${CONVERSATION}`,
    );
    admin.gtm.decide();
    admin.gtm.decide({ conversationId: CONVERSATION, channel: "dns" });
    const wanted = admin.gtm.decide({ conversationId: CONVERSATION });
    const [event] = await reader.take(1);
    assert.equal(JSON.parse(event?.data ?? "").id, wanted.decision.id);
    reader.leave();
  });

  it("that comes back with Last-Event-ID misses nothing and hears nothing twice", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const first = await stream(admin);
    const ids = [admin.gtm.decide().decision.id];
    const [seen] = await first.take(1);
    first.leave();
    await until(async () => (await readers(admin)) === 0);
    ids.push(admin.gtm.decide().decision.id, admin.gtm.decide().decision.id);
    const second = await stream(admin, "", { "last-event-id": seen?.id ?? "" });
    ids.push(admin.gtm.decide().decision.id);
    const rest = await second.take(3);
    assert.deepEqual(
      [seen, ...rest].map((event) => JSON.parse(event?.data ?? "").id),
      ids,
    );
    second.leave();
  });

  it("that comes back after the GTM was restarted is told of the gap", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const reader = await stream(admin, "", { "last-event-id": "0123abcd-17" });
    const [event] = await reader.take(1);
    assert.deepEqual([event?.event, event?.data], ["gap", '{"after":"0123abcd-17"}']);
    reader.leave();
  });

  it("that leaves is forgotten", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const reader = await stream(admin);
    assert.equal(await readers(admin), 1);
    reader.leave();
    await until(async () => (await readers(admin)) === 0);
  });

  it("that does not read is let go and counted, while the others hear on", { timeout: 20_000 }, async () => {
    await using admin = await runningAdmin();
    const slow = connect(Number(new URL(admin.url).port), "127.0.0.1");
    slow.on("error", () => {});
    slow.pause();
    slow.write("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(async () => (await readers(admin)) === 1);
    const quick = await stream(admin, "?kinds=region");
    const dropped = () => metricValue(admin.metrics, "gtm_admin_event_readers_dropped_total");
    await until(async () => {
      for (let i = 0; i < 200; i++) admin.gtm.decide();
      admin.gtm.clock.pass(1_000);
      return (await dropped()) === 1;
    });
    assert.equal(await readers(admin), 1);
    admin.gtm.setRegion("paris", { health: "silent" });
    assert.equal((await quick.take(1))[0]?.event, "region");
    quick.leave();
    slow.destroy();
  });

  it("is refused with 503 where 32 are there already", { timeout: 10_000 }, async () => {
    await using admin = await runningAdmin();
    const all = await Promise.all(Array.from({ length: 32 }, () => stream(admin)));
    const refused = await admin.ask("GET", "/events");
    assert.deepEqual([refused.status, refused.body.code], [503, "too-many-streams"]);
    assert.equal(refused.headers.get("retry-after"), "10");
    for (const reader of all) reader.leave();
  });
});

describe("when the admin API stops", () => {
  it("streams end in good order, and it is done at once", { timeout: 10_000 }, async () => {
    const admin = await runningAdmin();
    const reader = await stream(admin);
    admin.gtm.decide();
    await reader.take(1);
    await admin[Symbol.asyncDispose]();
    assert.deepEqual(await reader.take(1), []);
    await assert.rejects(fetch(`${admin.url}/api/v1/status`));
  });
  it("an idle connection does not hold it up", { timeout: 10_000 }, async () => {
    const admin = await runningAdmin();
    const idle = connect(Number(new URL(admin.url).port), "127.0.0.1");
    await once(idle, "connect");
    await admin[Symbol.asyncDispose]();
    idle.destroy();
  });
});
