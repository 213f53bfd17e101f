/** The front door's forwarding against a bare undici proxy: streams a second, what either adds to the first byte, idle streams' memory. */
import { once } from "node:events";
import { alternate, type Bench, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { StreamOrder, StreamResult } from "./http-forward-load.ts";
import type { ForwardSubject } from "./http-forward-server.ts";
import type { ProcessReport } from "./process-report.ts";

const PAIRS = 6;
const STREAMS = 400;
const BUSY_CONNECTIONS = 32;
/** Few enough that nobody waits for the processor. */
const CALM_CONNECTIONS = 2;
const IDLE_STREAMS = 500;
const BARE = "bare undici proxy";

type Server = { readonly port: number; readonly report: () => Promise<ProcessReport> } & Disposable;

const startServer = async (what: ForwardSubject, origin = ""): Promise<Server> => {
  const server = forked("http-forward-server.ts", what, origin);
  const [{ port }] = await once(server, "message");
  return { port, report: () => ask(server, {}), [Symbol.dispose]: () => server[Symbol.dispose]() };
};

const originOf = ({ port }: Server): string => `http://127.0.0.1:${port}`;

const streamRows = async (): Promise<readonly BenchRow[]> => {
  using engine = await startServer("engine");
  using bare = await startServer("bare", originOf(engine));
  using front = await startServer("front-door", originOf(engine));
  using load = forked("http-forward-load.ts");
  const measure = (server: Server, connections: number, streams: number): Promise<StreamResult> => {
    const order: StreamOrder = { kind: "streams", port: server.port, connections, streams };
    return ask<StreamResult>(load, order);
  };
  const cpuOf: { front: number[]; bare: number[] } = { front: [], bare: [] };
  const busy = async (server: Server, cpus: number[]): Promise<number> => {
    const before = await server.report();
    const { perSecond } = await measure(server, BUSY_CONNECTIONS, STREAMS);
    cpus.push(((await server.report()).cpuMicroseconds - before.cpuMicroseconds) / STREAMS);
    return perSecond;
  };
  const { a, ratio } = await alternate(
    PAIRS,
    () => busy(front, cpuOf.front),
    () => busy(bare, cpuOf.bare),
  );

  const added = { front: [] as number[], bare: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair++) {
    const direct = await measure(engine, CALM_CONNECTIONS, STREAMS);
    for (const who of pair % 2 === 0 ? (["front", "bare"] as const) : (["bare", "front"] as const)) {
      const through = await measure(who === "front" ? front : bare, CALM_CONNECTIONS, STREAMS);
      added[who].push(through.firstByteP99 - direct.firstByteP50);
    }
  }
  // Both are warm by now: what is loaded and compiled at the first requests is not counted.
  const idleBytes = async (server: Server): Promise<number> => {
    const before = await server.report();
    await ask<StreamResult>(load, { kind: "idle", port: server.port, connections: IDLE_STREAMS });
    return ((await server.report()).rssBytes - before.rssBytes) / IDLE_STREAMS;
  };
  const [frontIdle, bareIdle] = [await idleBytes(front), await idleBytes(bare)];
  const [frontAdded, bareAdded] = [median(added.front), median(added.bare)];
  return [
    { what: "forwarded streams of 32 events", value: a, unit: "streams/s", against: BARE, ratio, bound: "≥ 0.7" },
    {
      what: "forwarded streams of 32 events: CPU",
      value: median(cpuOf.front),
      unit: "µs",
      against: BARE,
      ratio: median(cpuOf.front) / median(cpuOf.bare),
      bound: null,
    },
    {
      what: "added to the first byte, p99, over the median without proxy",
      value: frontAdded,
      unit: "µs",
      against: BARE,
      ratio: frontAdded / bareAdded,
      bound: "≤ 1.5",
    },
    {
      what: "an idle stream's memory",
      value: frontIdle,
      unit: "bytes",
      against: BARE,
      ratio: frontIdle / bareIdle,
      bound: null,
    },
  ];
};

export const bench: Bench = { name: "http-forward", run: streamRows };
