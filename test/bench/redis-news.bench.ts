/** How long a report that changes a region's candidacy takes until another GTM answers otherwise, through Redis; p99 of a hundred. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { HOUSE_REGIONS } from "#test/support/house.ts";
import { type Bench, median } from "./bench.ts";
import { startRedisHouse } from "./redis-house.ts";

const REPORTS = 100;
const [NEAR, FAR] = HOUSE_REGIONS;
/** From the clients of the first region. */
const QUESTION = queryOctets({ opt: { options: subnetOption(1, 24, [192, 0, 2]) } });
const PATIENCE_MS = 10_000;

/** The address in the answer's last four octets before the OPT record: the name is compressed, the record an A. */
const ask = async (socket: Socket): Promise<string> => {
  const answered = once(socket, "message");
  socket.send(QUESTION);
  const [reply] = (await answered) as [Buffer];
  return (
    HOUSE_REGIONS.find(({ address }) => reply.includes(Buffer.from(address.split(".").map(Number))))?.address ?? "none"
  );
};

export const bench: Bench = {
  name: "redis-news",
  run: async () => {
    await using house = await startRedisHouse();
    // Both hear every report from Redis; the one that is asked is not the one that would be asked first.
    await using _first = await house.startGtm("first");
    await using second = await house.startGtm("second");
    const socket = createSocket("udp4");
    socket.connect(second.dns, "127.0.0.1");
    await once(socket, "connect");
    const untilAnswered = async (address: string): Promise<number> => {
      const startedMs = performance.now();
      while ((await ask(socket)) !== address) {
        if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`${address} was not answered in time`);
      }
      return performance.now() - startedMs;
    };
    await untilAnswered(NEAR.address);
    const took: number[] = [];
    for (let at = 0; at < REPORTS; at++) {
      const isLeaving = at % 2 === 0;
      await house.report(NEAR.id, { state: isLeaving ? "down" : "loaded" });
      took.push(await untilAnswered(isLeaving ? FAR.address : NEAR.address));
    }
    socket.close();
    const p99 = took.toSorted((a, b) => a - b)[Math.ceil(REPORTS * 0.99) - 1] ?? Number.NaN;
    return [
      {
        what: "a report that changes a region's candidacy, until another GTM answers DNS otherwise: p99",
        value: p99,
        unit: "ms",
        against: null,
        ratio: null,
        bound: "≤ 1 500",
      },
      { what: "the same: median", value: median(took), unit: "ms", against: null, ratio: null, bound: null },
    ];
  },
};
