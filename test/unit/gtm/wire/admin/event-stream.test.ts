/** One reader's stream of events: what it carries, how fast, and when it is let go. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEventHub } from "#gtm/wire/admin/event-hub.ts";
import { openEventStream, type StreamWish } from "#gtm/wire/admin/event-stream.ts";
import { createEventStreams } from "#gtm/wire/admin/event-streams.ts";
import { createEventTexts } from "#gtm/wire/admin/event-text.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { fakeGtm } from "./fake-ports.ts";

const READER = { drop: () => {}, stands: () => true };
const EVERYTHING: StreamWish = { wants: () => true, lastEventId: null, perSecond: 200 };

const open = (
  wish: Partial<StreamWish> = {},
  viewOf: (entry: { decision: { id: string } }) => unknown = (entry) => entry.decision.id,
) => {
  const gtm = fakeGtm();
  const hub = createEventHub({
    world: gtm.ports.steering.world,
    decisions: gtm.ports.decisions,
    clock: gtm.clock,
    boot: "b1",
  });
  const ends: string[] = [];
  const stream = openEventStream(
    { ...EVERYTHING, ...wish },
    {
      hub,
      textOf: createEventTexts(hub, viewOf),
      monotonicMs: gtm.clock.monotonicMs,
      dropReader: () => ends.push("dropped"),
      onEnd: () => ends.push("ended"),
    },
  );
  return { gtm, hub, stream, ends };
};

/** Everything that a stream holds, once it has been closed. */
const textOf = async (stream: { body: ReadableStream<Uint8Array>; close: () => void }): Promise<string> => {
  stream.close();
  return await new Response(stream.body).text();
};

describe("an event stream", () => {
  it("says how soon to come back, then each event with its id", async () => {
    const { gtm, hub, stream } = open();
    const { decision } = gtm.decide();
    gtm.setRegion("paris", { admin: "down" });
    hub.look();
    assert.equal(
      await textOf(stream),
      `retry: 2000\n\nid: b1-1\nevent: decision\ndata: "${decision.id}"\n\nid: b1-2\nevent: region\ndata: {"at":"2026-11-30T04:00:00.000Z","region":"paris","changes":[{"field":"admin","from":"active","to":"down"}]}\n\n`,
    );
  });
  it("leaves out what its reader does not want", async () => {
    const { gtm, hub, stream } = open({ wants: ({ kind }) => kind === "region" });
    gtm.decide();
    gtm.setRegion("paris", { admin: "down" });
    hub.look();
    const text = await textOf(stream);
    assert.match(text, /^id: b1-2$/m);
    assert.doesNotMatch(text, /decision/);
  });
  it("says that it lives", async () => {
    const { stream } = open();
    stream.heartbeat();
    assert.match(await textOf(stream), /^: heartbeat$/m);
  });
  it("says where a gap is, and goes on", async () => {
    const { gtm, stream } = open({ lastEventId: "b0-17" });
    gtm.decide();
    const text = await textOf(stream);
    assert.match(text, /event: gap\ndata: \{"after":"b0-17"\}\n\nid: b1-1\n/);
  });
  it("carries at most 200 decisions a second, and says how many it left out", async () => {
    const { gtm, stream } = open();
    for (let i = 0; i < 230; i++) gtm.decide();
    gtm.clock.pass(1_000);
    gtm.decide();
    const text = await textOf(stream);
    assert.equal(text.match(/^event: decision$/gm)?.length, 201);
    assert.match(text, /event: skipped\ndata: \{"decisions":30\}\n\nid: b1-231\n/);
  });
  it("says how many it left out with the next heartbeat, where nothing follows", async () => {
    const { gtm, stream } = open();
    for (let i = 0; i < 203; i++) gtm.decide();
    gtm.clock.pass(1_000);
    stream.heartbeat();
    assert.match(await textOf(stream), /event: skipped\ndata: \{"decisions":3\}\n\n: heartbeat\n/);
  });
  it("carries as many as its reader asks for, evenly once it flows", async () => {
    const { gtm, stream } = open({ perSecond: 20 });
    for (let ms = 0; ms < 2_000; ms++) {
      gtm.decide();
      gtm.clock.pass(1);
      if (ms % 250 === 0) stream.flush();
    }
    const text = await textOf(stream);
    const told = [...text.matchAll(/^id: b1-(\d+)$/gm)].map(([, seq]) => Number(seq));
    assert.ok(told.length >= 58 && told.length <= 60, `${told.length} in two seconds and what a silence allows`);
    const gaps = told.slice(20).map((seq, at) => seq - (told[at + 19] ?? 0));
    assert.ok(
      gaps.slice(1).every((gap) => gap >= 49 && gap <= 51),
      gaps.join(" "),
    );
    const skipped = [...text.matchAll(/"decisions":(\d+)/g)].map(([, count]) => Number(count));
    assert.equal(skipped.length, 1);
  });
  it("tells the newest of very many that were missed, and how many more there were", async () => {
    const gtm = fakeGtm();
    const hub = createEventHub({
      ...{ world: gtm.ports.steering.world, decisions: gtm.ports.decisions, clock: gtm.clock, boot: "b1" },
    });
    for (let nth = 0; nth < 100; nth++) gtm.decide();
    const stream = openEventStream(
      { ...EVERYTHING, lastEventId: "b1-10", perSecond: 20 },
      {
        ...{ hub, textOf: createEventTexts(hub, () => 0), monotonicMs: gtm.clock.monotonicMs },
        ...{ dropReader: () => assert.fail("it is let go"), onEnd: () => {} },
      },
    );
    const text = await textOf(stream);
    assert.match(text, /event: skipped\ndata: \{"decisions":70\}\n\nid: b1-81\n/);
    assert.equal(text.match(/^event: decision$/gm)?.length, 20);
  });
  it("is written four times a second at most", async () => {
    const { gtm, stream } = open();
    const reader = stream.body.getReader();
    const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    assert.equal(await read(), "retry: 2000\n\n");
    gtm.decide();
    assert.match(await read(), /^id: b1-1\n/);
    gtm.decide();
    gtm.decide();
    stream.flush();
    assert.match(await read(), /^id: b1-2\n[\s\S]*^id: b1-3\n/m);
    gtm.decide();
    gtm.clock.pass(250);
    gtm.decide();
    assert.match(await read(), /^id: b1-4\n[\s\S]*^id: b1-5\n/m);
    stream.close();
  });
  it("never leaves out a region's change", async () => {
    const { gtm, hub, stream } = open();
    for (let i = 0; i < 230; i++) gtm.decide();
    gtm.setRegion("paris", { health: "unhealthy" });
    hub.look();
    assert.match(await textOf(stream), /^event: region$/m);
  });
});

describe("a reader that does not read", () => {
  it("is let go once more than 1 MiB waits for it, and costs nothing afterwards", () => {
    let rendered = 0;
    const { gtm, stream, ends } = open({}, () => {
      rendered += 1;
      return "x".repeat(300_000);
    });
    for (let i = 0; i < 10; i++) gtm.decide();
    stream.flush();
    assert.deepEqual(ends, ["ended", "dropped"]);
    gtm.decide();
    stream.flush();
    assert.equal(rendered, 4);
  });
});

describe("what several readers are told", () => {
  it("is made once", async () => {
    const gtm = fakeGtm();
    const hub = createEventHub({
      ...{ world: gtm.ports.steering.world, decisions: gtm.ports.decisions, clock: gtm.clock, boot: "b1" },
    });
    let made = 0;
    const viewOf = (): number => {
      made += 1;
      return made;
    };
    const all = createEventStreams({ hub, viewOf, clock: gtm.clock, metrics: createMetrics() });
    const bodies = [1, 2, 3].map(() => all.open(EVERYTHING, READER));
    for (let nth = 0; nth < 5; nth++) gtm.decide();
    all.closeAll();
    const texts = await Promise.all(bodies.map((body) => new Response(body).text()));
    assert.equal(made, 5);
    assert.equal(new Set(texts).size, 1);
    assert.equal(texts[0]?.match(/^event: decision$/gm)?.length, 5);
  });
});

describe("all event streams of a GTM", () => {
  const streams = () => {
    const gtm = fakeGtm();
    const hub = createEventHub({
      world: gtm.ports.steering.world,
      decisions: gtm.ports.decisions,
      clock: gtm.clock,
      boot: "b1",
    });
    const metrics = createMetrics();
    return {
      gtm,
      metrics,
      all: createEventStreams({ hub, viewOf: () => "x".repeat(2_000_000), clock: gtm.clock, metrics }),
    };
  };
  it("are 32 at most, and a closed one makes room", async () => {
    const { all, metrics } = streams();
    const bodies = Array.from({ length: 32 }, () => all.open(EVERYTHING, READER));
    assert.ok(bodies.every((body) => body !== null));
    assert.equal(all.open(EVERYTHING, READER), null);
    await bodies[0]?.cancel();
    assert.equal(await metricValue(metrics, "gtm_admin_event_readers"), 31);
    assert.notEqual(all.open(EVERYTHING, READER), null);
    all.closeAll();
    assert.equal(await metricValue(metrics, "gtm_admin_event_readers"), 0);
  });
  it("end within a look once whoever opened them would not be let in any more", async () => {
    const { all, metrics } = streams();
    let stands = true;
    const body = all.open(EVERYTHING, { ...READER, stands: () => stands });
    all.open(EVERYTHING, READER);
    all.review();
    assert.equal(await metricValue(metrics, "gtm_admin_event_readers"), 2);
    stands = false;
    all.review();
    assert.equal(await metricValue(metrics, "gtm_admin_event_readers"), 1);
    const reader = body?.getReader();
    let isOver = false;
    while (!isOver) isOver = (await reader?.read())?.done ?? true;
    all.closeAll();
  });
  it("count the readers that were let go", async () => {
    const { all, gtm, metrics } = streams();
    let dropped = 0;
    const drop = (): void => {
      dropped += 1;
    };
    all.open(EVERYTHING, { ...READER, drop });
    gtm.decide();
    all.flush();
    assert.equal(dropped, 1);
    assert.equal(await metricValue(metrics, "gtm_admin_event_readers_dropped_total"), 1);
  });
});
