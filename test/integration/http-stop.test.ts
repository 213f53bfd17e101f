/** Stopping while every kind of client is at every stage of its request: all that was accepted is answered, and it ends in time. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { type RawConnection, rawConnect, requestText } from "#test/support/http-by-hand.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { answersUntilEnd } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";

const BODY = JSON.stringify({ model: "llama", messages: [{ role: "user", content: "x".repeat(100_000) }] });
const GET = requestText("GET /v1/models");
const POST = requestText("POST /v1/chat/completions", [], BODY);
const HELD_BACK = requestText("POST /v1/chat/completions", ["Expect: 100-continue"], BODY);
const HALF_HEAD = GET.indexOf("Host") + 2;
const HALF_BODY = POST.length - 50_000;

/** What a client has sent and been answered when stopping begins, and what it sends then. */
type Stage = {
  readonly before: string;
  readonly answered: readonly number[];
  readonly after: string;
};
const afterHead = HELD_BACK.indexOf("\r\n\r\n") + 4;
const STAGES: readonly Stage[] = [
  // A client that believes its connection to be alive asks once more.
  { before: GET, answered: [307], after: GET },
  { before: GET.slice(0, HALF_HEAD), answered: [], after: GET.slice(HALF_HEAD) },
  { before: POST.slice(0, HALF_BODY), answered: [], after: POST.slice(HALF_BODY) },
  { before: HELD_BACK.slice(0, afterHead), answered: [100], after: HELD_BACK.slice(afterHead) },
];
const EACH = 10;

const connectMany = (front: RunningFrontDoor): Promise<readonly RawConnection[]> =>
  Promise.all(Array.from({ length: EACH }, () => rawConnect(front.port)));

const areOpen = (front: RunningFrontDoor, count: number): Promise<void> =>
  until(
    async () => (await metricValue(front.metrics, "gtm_http_connections")) === count,
    `${count} connections are open`,
  );

/** Until the front door takes no more connections, so that it is known to be stopping. */
const isStopping = (front: RunningFrontDoor): Promise<void> =>
  until(async () => {
    try {
      await using _late = await rawConnect(front.port);
      return false;
    } catch {
      return true;
    }
  }, "connections are refused");

describe("a front door that is stopped", () => {
  it("answers heads half sent, bodies under way and bodies held back, and closes each connection with it", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 5_000, stopMs: 10_000 } });
    const clients: { readonly client: RawConnection; readonly stage: Stage }[] = [];
    for (const stage of STAGES) {
      for (const client of await connectMany(front)) {
        clients.push({ client, stage });
        client.send(stage.before);
        for (const status of stage.answered) assert.equal((await client.answer()).status, status);
      }
    }
    await areOpen(front, STAGES.length * EACH);

    const stopped = front.stop();
    await isStopping(front);
    for (const { client, stage } of clients) client.send(stage.after);
    for (const { client } of clients) {
      const answers = await answersUntilEnd(client);
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get("connection")]),
        [[307, "close"]],
      );
      assert.equal(await client.ended, "end", "not by a reset");
    }
    await stopped;
    assert.equal(front.entries.length, (STAGES.length + 1) * EACH, "and one a connection that was idle");
    assert.equal(await metricValue(front.metrics, "gtm_http_connections"), 0);
    assert.equal(await metricValue(front.metrics, "gtm_http_connections_cut_total"), 0);
    assert.equal(await metricValue(front.metrics, "gtm_http_aborts_total"), 0);
  });

  it("waits for no idle connection longer than it says, and then for nobody", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 20, stopMs: 60_000 } });
    const idle = await connectMany(front);
    for (const client of idle) {
      client.send(GET);
      await client.answer();
    }
    const silent = await connectMany(front);
    await areOpen(front, 2 * EACH);
    await front.stop();
    for (const client of [...idle, ...silent]) assert.deepEqual(await answersUntilEnd(client), []);
  });

  for (const [what, request] of [
    ["a body that never ends", POST.slice(0, HALF_BODY)],
    ["a head that never ends", GET.slice(0, HALF_HEAD)],
  ] as const) {
    it(`cuts a client at its deadline, counts and tells it, and answers the others before: ${what}`, async () => {
      const stopMs = 300;
      await using front = await startFrontDoor({ limits: { stopIdleMs: 20, stopMs } });
      await using stuck = await rawConnect(front.port);
      stuck.send(request);
      await using honest = await rawConnect(front.port);
      honest.send(POST.slice(0, HALF_BODY));
      await areOpen(front, 2);

      const beganAt = performance.now();
      const stopped = front.stop();
      await isStopping(front);
      honest.send(POST.slice(HALF_BODY));
      assert.equal((await honest.answer()).status, 307);
      await stopped;
      const tookMs = performance.now() - beganAt;

      // Timers may be early by a part of a millisecond; the upper bound is generous since the machine may be busy.
      assert.ok(tookMs > stopMs - 2 && tookMs < stopMs + 5_000, `took ${tookMs} ms`);
      await stuck.ended;
      assert.equal(await metricValue(front.metrics, "gtm_http_connections_cut_total"), 1);
      const cuts = front.lines.filter(({ event }) => event === "http.stop.cut");
      assert.deepEqual(cuts, [{ level: "warn", event: "http.stop.cut", fields: { connections: 1, stopMs } }]);
      assert.equal(front.entries.length, 1);
    });
  }

  it("refuses what is malformed as it always does", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 5_000 } });
    await using client = await rawConnect(front.port);
    client.send(POST.slice(0, 10));
    await areOpen(front, 1);
    const stopped = front.stop();
    await isStopping(front);
    client.send("\0\0\r\n\r\n");
    client.finish();
    const statuses = (await answersUntilEnd(client)).map(({ status }) => status);
    assert.deepEqual(statuses, [400]);
    await stopped;
  });
});
