/**
 * Compares the front door with what a bare server does, both under the same load, in turn. Of either there are several processes: two
 * of the same code differ by up to a fifth, by what each compiled and where its memory lies.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { alternate, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";
import type { ServerUnderTest } from "./http-server.ts";
import type { ProcessReport } from "./process-report.ts";
import { pin } from "./process-time.ts";

export type Comparison = {
  readonly what: string;
  /** Octets of a request, as latin1 text. */
  readonly request: string;
  readonly against: Exclude<ServerUnderTest, "front-door">;
  /** What is forked; default: http-server.ts. */
  readonly file?: string;
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

const PROCESSES = 3;
const PAIRS = 12;
/** Rounds in front of the counted ones, of each process: a service runs for weeks, and is slower while it is compiled. */
const WARM_UP_ROUNDS = 8;
const REQUESTS = 4_000;
const CONNECTIONS = 32;

const NAMES = {
  bare: "bare @hono/node-server redirect",
  draining: "bare @hono/node-server redirect that drains, without Hono",
  hono: "bare hono redirect that reads the body",
} as const;

/** Each on its own, so that the threads that help a server (they collect garbage, they compile) take their time from it, not from the load. */
const SERVER_CPU = 0;
const LOAD_CPU = 1;
const canPin = process.platform === "linux" && availableParallelism() > LOAD_CPU;

const pinned = <Child extends ChildProcess>(cpu: number, child: Child): Child => {
  try {
    if (canPin && child.pid !== undefined) pin(child.pid, cpu);
  } catch (fault) {
    // As in a container that has other processors: it is measured, and the reader told.
    process.stderr.write(`not kept on processor ${cpu}: ${String(fault)}\n`);
  }
  return child;
};

type Server = { readonly port: number; readonly cpu: () => Promise<ProcessReport> } & Disposable;

export const startServer = async (what: ServerUnderTest, file = "http-server.ts"): Promise<Server> => {
  const server = pinned(SERVER_CPU, forked(file, what));
  const [{ port }] = await once(server, "message");
  return { port, cpu: () => ask(server, {}), [Symbol.dispose]: () => server[Symbol.dispose]() };
};

/** Processes of one kind, asked in turn. */
type Side = {
  readonly servers: readonly Server[];
  readonly order: Pick<LoadOrder, "request" | "status">;
  cpu: number[];
};

/** A row of the throughput and one of the processor time. */
export const compare = async (comparison: Comparison): Promise<readonly BenchRow[]> => {
  const { what, request, otherRequest = request, requests = REQUESTS, connections = CONNECTIONS } = comparison;
  using started = new DisposableStack();
  const load = started.use(pinned(LOAD_CPU, forked("http-load.ts")));
  const sideOf = async (kind: ServerUnderTest, order: Side["order"]): Promise<Side> => {
    const servers: Server[] = [];
    while (servers.length < PROCESSES) servers.push(started.use(await startServer(kind, comparison.file)));
    return { servers, order, cpu: [] };
  };
  const front = await sideOf("front-door", { request, status: comparison.status ?? 307 });
  const other = await sideOf(comparison.against, { request: otherRequest });
  const measure = async (server: Server, side: Side): Promise<number> => {
    const before = await server.cpu();
    const { perSecond } = await ask<LoadResult>(load, { ...side.order, port: server.port, connections, requests });
    side.cpu.push(((await server.cpu()).cpuMicroseconds - before.cpuMicroseconds) / requests);
    return perSecond;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const side of [front, other]) for (const server of side.servers) await measure(server, side);
  }
  for (const side of [front, other]) side.cpu = [];
  const inTurn = (side: Side) => {
    let at = 0;
    return async (): Promise<number> => {
      const server = side.servers[at % side.servers.length];
      at += 1;
      if (server === undefined) throw new Error("compare: no process");
      return measure(server, side);
    };
  };
  const { a, ratio } = await alternate(comparison.pairs ?? PAIRS, inTurn(front), inTurn(other));
  const cpuMicroseconds = median(front.cpu);
  const against = NAMES[comparison.against];
  return [
    { what, value: a, unit: "requests/s", against, ratio, bound: comparison.bound },
    {
      what: `${what}: CPU`,
      value: cpuMicroseconds,
      unit: "µs",
      against,
      ratio: cpuMicroseconds / median(other.cpu),
      bound: comparison.cpuBound ?? null,
    },
  ];
};
