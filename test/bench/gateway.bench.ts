/** The gateway against a bare undici proxy: streams a second, what either adds to the first byte, idle streams' memory. */
import { once } from "node:events";
import { alternate, type Bench, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { StreamOrder, StreamResult } from "./http-forward-load.ts";
import type { ProcessReport } from "./process-report.ts";

const PAIRS = 4;
const STREAMS = 600;
const BUSY_CONNECTIONS = 32;
/** Few enough that nobody waits for the processor. */
const CALM_CONNECTIONS = 2;
const IDLE_STREAMS = 500;
const BARE = "bare undici proxy";

type Server = { readonly port: number; readonly report: () => Promise<ProcessReport> } & Disposable;

const started = async (file: string, ...words: readonly string[]): Promise<Server> => {
  const server = forked(file, ...words);
  const [{ port }] = await once(server, "message");
  return { port, report: () => ask(server, {}), [Symbol.dispose]: () => server[Symbol.dispose]() };
};
const startEngine = (): Promise<Server> => started("http-forward-server.ts", "engine");
const originOf = ({ port }: Server): string => `http://127.0.0.1:${port}`;
const startProxy = (what: "gateway" | "bare", engine: Server): Promise<Server> =>
  what === "gateway"
    ? started("gateway-server.ts", originOf(engine))
    : started("http-forward-server.ts", "bare", originOf(engine));

const streamRows = async (): Promise<readonly BenchRow[]> => {
  using engine = await startEngine();
  using bare = await startProxy("bare", engine);
  using gateway = await startProxy("gateway", engine);
  using load = forked("http-forward-load.ts");
  const measure = (server: Server, connections: number): Promise<StreamResult> => {
    const order: StreamOrder = { kind: "streams", port: server.port, connections, streams: STREAMS };
    return ask<StreamResult>(load, order);
  };
  const { a, ratio } = await alternate(
    PAIRS,
    async () => (await measure(gateway, BUSY_CONNECTIONS)).perSecond,
    async () => (await measure(bare, BUSY_CONNECTIONS)).perSecond,
  );

  const added = { gateway: [] as number[], bare: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair++) {
    const direct = await measure(engine, CALM_CONNECTIONS);
    for (const who of pair % 2 === 0 ? (["gateway", "bare"] as const) : (["bare", "gateway"] as const)) {
      const through = await measure(who === "gateway" ? gateway : bare, CALM_CONNECTIONS);
      added[who].push(through.firstByteP99 - direct.firstByteP50);
    }
  }
  const [ours, theirs] = [median(added.gateway), median(added.bare)];
  const first = "added to the first byte, p99, over the median without proxy";
  return [
    { what: "streams of 32 events", value: a, unit: "streams/s", against: BARE, ratio, bound: "≥ 0.7" },
    { what: first, value: ours, unit: "µs", against: BARE, ratio: ours / theirs, bound: "≤ 1.5" },
  ];
};

const idleBytes = async (what: "gateway" | "bare"): Promise<number> => {
  using engine = await startEngine();
  using server = await startProxy(what, engine);
  using load = forked("http-forward-load.ts");
  // Warm, so that what is loaded and compiled at the first request is not counted.
  await ask<StreamResult>(load, { kind: "streams", port: server.port, connections: 32, streams: 500 });
  const before = await server.report();
  await ask<StreamResult>(load, { kind: "idle", port: server.port, connections: IDLE_STREAMS });
  const after = await server.report();
  return (after.rssBytes - before.rssBytes) / IDLE_STREAMS;
};

const idleRow = async (): Promise<BenchRow> => {
  const { a, ratio } = await alternate(
    2,
    () => idleBytes("gateway"),
    () => idleBytes("bare"),
  );
  return { what: "an idle stream's memory", value: a, unit: "bytes", against: BARE, ratio, bound: null };
};

export const bench: Bench = { name: "gateway", run: async () => [...(await streamRows()), await idleRow()] };
