/** How long a report that a region is down takes until DNS answers another, through Redis, while ten thousand others ask each second. */

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { HOUSE_REGIONS } from "#test/support/house.ts";
import { type Bench, median } from "./bench.ts";
import { latenciesOf } from "./dns-probe.ts";
import { subnetQueries } from "./dns-subject.ts";
import { dnsperf, writePackets } from "./dnsperf.ts";
import { startRedisHouse } from "./redis-house.ts";

const REPORTS = 100;
const MOST_PER_SECOND = 10_000;
const PATIENCE_MS = 10_000;
const LOST_AFTER_MS = 250;
const [NEAR, FAR] = HOUSE_REGIONS;
/** From the clients of the first region. */
const QUESTION = queryOctets({ opt: { options: subnetOption(1, 24, [192, 0, 2]) } });

/** @returns null: no answer came in time; it is asked again */
const ask = async (socket: Socket): Promise<string | null> => {
  socket.send(QUESTION);
  const answer = await once(socket, "message", { signal: AbortSignal.timeout(LOST_AFTER_MS) }).catch(() => null);
  if (answer === null) return null;
  const reply = answer[0] as Buffer;
  return (
    HOUSE_REGIONS.find(({ address }) => reply.includes(Buffer.from(address.split(".").map(Number))))?.address ?? null
  );
};

export const bench: Bench = {
  name: "dns-news",
  run: async () => {
    await using house = await startRedisHouse();
    await using gtm = await house.startGtm("first");
    const socket = createSocket("udp4");
    socket.connect(gtm.dns, "127.0.0.1");
    await once(socket, "connect");
    const untilAnswered = async (address: string): Promise<number> => {
      const startedMs = performance.now();
      while ((await ask(socket)) !== address) {
        if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`${address} was not answered in time`);
      }
      return performance.now() - startedMs;
    };
    await untilAnswered(NEAR.address);
    const folder = mkdtempSync(join(tmpdir(), "gtm-dnsperf-"));
    const file = writePackets(folder, subnetQueries());
    const took: number[] = [];
    let isOver = false;
    const perSecond: number[] = [];
    const load = async (): Promise<void> => {
      while (!isOver) {
        const order = { file, port: gtm.dns, underWay: 64, mostPerSecond: MOST_PER_SECOND, cpu: null };
        perSecond.push((await dnsperf({ ...order, limit: { seconds: 2 } })).queriesPerSecond);
      }
    };
    const loading = load();
    try {
      for (let at = 0; at < REPORTS; at++) {
        // The one that answers goes down and the other is back: a cell returns to a nearer region only when that saves enough.
        const [leaving, other] = at % 2 === 0 ? [NEAR, FAR] : [FAR, NEAR];
        await house.report(other.id, { state: "loaded" });
        await house.report(leaving.id, { state: "down" });
        took.push(await untilAnswered(other.address));
      }
    } finally {
      isOver = true;
      await loading;
      socket.close();
      rmSync(folder, { recursive: true });
    }
    const { p50Ms, p99Ms } = latenciesOf(took);
    const what = "a report that a region is down, until DNS answers another";
    const alone = { against: null, ratio: null };
    return [
      { what: `${what}: p99`, value: p99Ms, unit: "ms", ...alone, bound: "≤ 1 500" },
      { what: `${what}: median`, value: p50Ms, unit: "ms", ...alone, bound: null },
      { what: "answers to others meanwhile", value: median(perSecond), unit: "answers/s", ...alone, bound: null },
    ];
  },
};
