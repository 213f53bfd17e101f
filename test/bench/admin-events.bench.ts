/**
 * What the event stream of the admin API takes of a GTM that makes 1 000 decisions a second: processor time a decision, by how many
 * pages read it. Seconds are simulated and processor time is measured, so that other work on the machine changes little.
 */
import { viewer } from "#gtm/wire/admin/decision-clock.ts";
import { createEventHub } from "#gtm/wire/admin/event-hub.ts";
import { WRITE_EVERY_MS } from "#gtm/wire/admin/event-stream.ts";
import { createEventStreams } from "#gtm/wire/admin/event-streams.ts";
import { createMetrics } from "#shared/metrics.ts";
import { fakeGtm } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { type Bench, type BenchRow, median } from "./bench.ts";

const SECONDS = 20;
const ROUNDS = 7;
const PER_SECOND = 1_000;
/** As the page asks. */
const TOLD_PER_SECOND = 20;
const READERS = [0, 1, 10, 32] as const;

/** Reads as fast as it comes, as a browser does. */
const drain = async (body: ReadableStream<Uint8Array> | null): Promise<void> => {
  for await (const _ of body ?? []);
};

/** Processor time of a decision in µs, with so many pages that read the stream. */
const spentWith = async (readers: number): Promise<number> => {
  const gtm = fakeGtm();
  const { ports, clock } = gtm;
  const hub = createEventHub({ world: ports.steering.world, decisions: ports.decisions, clock, boot: "b" });
  const viewOf = viewer(ports.policyAt, clock);
  const streams = createEventStreams({ hub, viewOf, clock, metrics: createMetrics() });
  const wish = { wants: () => true, lastEventId: null, perSecond: TOLD_PER_SECOND };
  const bodies = Array.from({ length: readers }, () =>
    streams.open(wish, { drop: () => undefined, stands: () => true }),
  );
  const reading = bodies.map(drain);
  const entry = gtm.decide();
  const from = process.cpuUsage();
  for (let ms = 1; ms <= SECONDS * 1_000; ms++) {
    clock.pass(1_000 / PER_SECOND);
    gtm.tell(entry);
    if (ms % WRITE_EVERY_MS !== 0) continue;
    streams.flush();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(from);
  streams.closeAll();
  await Promise.all(reading);
  return (user + system) / (SECONDS * PER_SECOND);
};

export const bench: Bench = {
  name: "admin-events",
  run: async () => {
    const spent = new Map<number, number[]>(READERS.map((readers) => [readers, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const readers of READERS) spent.get(readers)?.push(await spentWith(readers));
    }
    return READERS.map((readers): BenchRow => {
      const what = `processor time of the stream, a decision, at ${PER_SECOND}/s, ${readers} pages`;
      const row = { what, value: median(spent.get(readers) ?? []), unit: "µs" };
      return { ...row, against: null, ratio: null, bound: readers === 10 ? "≤ 10" : null };
    });
  },
};
