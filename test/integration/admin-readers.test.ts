/** Readers of the event stream that never read, while a thousand decisions a second are made: bounded memory, cut off, counted. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const READERS = 10;
/** A reader may lag 1 MiB in its stream; beside it the kernel's and Node's buffers of its socket, which are not counted here. */
const MOST_OCTETS = READERS * 2 * 1_048_576;

const neverReads = (port: number, more = ""): Socket => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(`GET /api/v1/events${more} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
};

describe("ten readers that never read, at 1 000 decisions a second", () => {
  it("are cut off and counted; what they cost meanwhile is bounded, and the API answers on", async () => {
    await using admin = await runningAdmin();
    const port = Number(new URL(admin.url).port);
    const value = (name: string) => metricValue(admin.metrics, name);
    const sockets = Array.from({ length: READERS }, () => neverReads(port));
    await until(async () => (await value("gtm_admin_event_readers")) === READERS, "all of them read");
    const before = process.memoryUsage();
    let mostOctets = 0;
    let seconds = 0;
    while ((await value("gtm_admin_event_readers_dropped_total")) < READERS) {
      for (let made = 0; made < 1_000; made++) {
        admin.gtm.decide();
        if (made % 100 === 0) await turn();
      }
      admin.gtm.state.entries.length = 0;
      admin.gtm.clock.pass(1_000);
      seconds += 1;
      const { arrayBuffers } = process.memoryUsage();
      mostOctets = Math.max(mostOctets, arrayBuffers - before.arrayBuffers);
      assert.ok(seconds < 120, "they are cut off within two minutes");
    }
    assert.ok(mostOctets < MOST_OCTETS, `${Math.round(mostOctets / 1_048_576)} MiB of buffers`);
    assert.equal(await value("gtm_admin_event_readers"), 0);
    assert.equal((await admin.ask("GET", "/status")).status, 200);
    for (const socket of sockets) socket.destroy();
  });
});

describe("a reader that asks for close decisions", () => {
  it("hears of those that led by less than a move must save, and of no others", async () => {
    await using admin = await runningAdmin();
    const aborter = new AbortController();
    const { body } = await fetch(`${admin.url}/api/v1/events?kinds=decision&close=true`, { signal: aborter.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    const far = admin.gtm.decide();
    const { verdict, marginMs } = far.decision;
    assert.ok(verdict.kind !== "unserved" && verdict.leadMs !== null && verdict.leadMs >= marginMs);
    const close = { ...far, decision: { ...far.decision, marginMs: verdict.leadMs + 1 } };
    admin.gtm.tell(close);
    let heard = "";
    while (!heard.includes("event: decision")) heard += (await reader?.read())?.value ?? "";
    assert.equal(heard.match(/event: decision/g)?.length, 1);
    assert.ok(heard.includes(`"marginMs":${Math.round(verdict.leadMs + 1)}`), heard);
    aborter.abort();
  });
});
