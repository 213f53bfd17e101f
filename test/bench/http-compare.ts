/** Compares the front door with what a bare server does, both under the same load, in turn. */
import { once } from "node:events";
import { alternate, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";
import type { CpuReport, ServerUnderTest } from "./http-server.ts";

export type Comparison = {
  readonly what: string;
  /** Octets of a request, as latin1 text. */
  readonly request: string;
  readonly against: Exclude<ServerUnderTest, "front-door">;
  /** Of the throughput's ratio; null: only reported. */
  readonly bound: string | null;
  /** Of the processor time's ratio. */
  readonly cpuBound?: string;
  /** What the front door answers; absent: 307. */
  readonly status?: number;
  /** For the bare server, where it is not asked the same. */
  readonly otherRequest?: string;
  readonly pairs?: number;
  readonly requests?: number;
  readonly connections?: number;
};

const PAIRS = 8;
/** Rounds in front of the counted ones, of either server: a service runs for weeks, and both are slower while they are compiled. */
const WARM_UP_ROUNDS = 5;
const REQUESTS = 4_000;
const CONNECTIONS = 32;

const NAMES = {
  bare: "bare @hono/node-server redirect",
  draining: "bare @hono/node-server redirect that drains, without Hono",
  hono: "bare hono redirect that reads the body",
} as const;

type Server = { readonly port: number; readonly cpu: () => Promise<CpuReport> } & Disposable;

export const startServer = async (what: ServerUnderTest): Promise<Server> => {
  const server = forked("http-server.ts", what);
  const [{ port }] = await once(server, "message");
  return { port, cpu: () => ask(server, {}), [Symbol.dispose]: () => server[Symbol.dispose]() };
};

/** A row of the throughput and one of the processor time. */
export const compare = async (comparison: Comparison): Promise<readonly BenchRow[]> => {
  const { what, request, otherRequest = request, requests = REQUESTS, connections = CONNECTIONS } = comparison;
  using other = await startServer(comparison.against);
  using front = await startServer("front-door");
  using load = forked("http-load.ts");
  const cpuOf: { front: number[]; other: number[] } = { front: [], other: [] };
  const measure = async (
    server: Server,
    order: Pick<LoadOrder, "request" | "status">,
    cpus: number[],
  ): Promise<number> => {
    const before = await server.cpu();
    const { perSecond } = await ask<LoadResult>(load, { ...order, port: server.port, connections, requests });
    cpus.push(((await server.cpu()).cpuMicroseconds - before.cpuMicroseconds) / requests);
    return perSecond;
  };
  const status = comparison.status ?? 307;
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await measure(front, { request, status }, []);
    await measure(other, { request: otherRequest }, []);
  }
  const { a, ratio } = await alternate(
    comparison.pairs ?? PAIRS,
    () => measure(front, { request, status }, cpuOf.front),
    () => measure(other, { request: otherRequest }, cpuOf.other),
  );
  const cpuMicroseconds = median(cpuOf.front);
  const against = NAMES[comparison.against];
  return [
    { what, value: a, unit: "requests/s", against, ratio, bound: comparison.bound },
    {
      what: `${what}: CPU`,
      value: cpuMicroseconds,
      unit: "µs",
      against,
      ratio: cpuMicroseconds / median(cpuOf.other),
      bound: comparison.cpuBound ?? null,
    },
  ];
};
