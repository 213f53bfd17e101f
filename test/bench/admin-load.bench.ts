/**
 * The admin API beside the data plane, on a whole GTM: how long a list and an explanation take under 1 000 decisions a second, what
 * turns a second the front door still takes while somebody watches (the page's polls and its live stream), and the processor time
 * that the watching takes, which other work on the machine does not change.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { request } from "undici";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { type House, startHouse } from "#test/support/house.ts";
import type { ClientOrder, ClientReply } from "./admin-clients.ts";
import { alternate, type Bench, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";

const PER_SECOND = 1_000;
/** Less than any machine can, so that each turn finds the same. */
const READ_PER_SECOND = 400;
const ASKED = 150;
const TURNS = 1_000;
const PAIRS = 3;
/** As often as the page asks. */
const WATCH_EVERY_MS = 500;

const told = async <Kind extends ClientReply["kind"]>(
  child: ChildProcess,
  kind: Kind,
  order: ClientOrder,
): Promise<Extract<ClientReply, { kind: Kind }>> => {
  const reply = await ask<ClientReply>(child, order);
  if (reply.kind !== kind) throw new Error(`expected ${kind}, got ${reply.kind}`);
  return reply as Extract<ClientReply, { kind: Kind }>;
};

const turnOrder = (frontUrl: string): LoadOrder => {
  const body = JSON.stringify({ model: SIMULATED_ALIAS, messages: [{ role: "user", content: "How far is it?" }] });
  const { port, host } = new URL(frontUrl);
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    `Host: ${host}`,
    "Content-Type: application/json",
    "X-Conversation-Id: c{number}",
    `Content-Length: ${body.length}`,
  ];
  const octets = `${head.join("\r\n")}\r\n\r\n${body}`;
  return { port: Number(port), request: octets, numbers: { from: 0, count: 2_000 }, connections: 8, requests: TURNS };
};

const row = (what: string, value: number, unit: string, bound: string | null = null): BenchRow => ({
  ...{ what, value, unit, bound },
  ...{ against: null, ratio: null },
});

/** Processor time of this process, ms; the clients are others. */
const processorMs = async (act: () => unknown): Promise<number> => {
  const from = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
};

const CALLS = 100;
/** What a page that watches asks for in a second: decisions that are told, and its polls. */
const TOLD_PER_SECOND = 20;

/** Share of one core that it takes of a GTM at 1 000 decisions a second. */
const shareOfWatching = async (adminUrl: string, watcher: ChildProcess): Promise<readonly BenchRow[]> => {
  const { items } = (await (await request(`${adminUrl}/decisions?limit=500`)).body.json()) as { items: unknown[] };
  // The list of decisions makes the same views as the stream, and JSON of them.
  const listMs = await processorMs(async () => {
    for (let nth = 0; nth < 10; nth++) await (await request(`${adminUrl}/decisions?limit=500`)).body.dump();
  });
  const toldMs = listMs / (10 * items.length);
  const askedMs = await processorMs(() => told(watcher, "asked", { kind: "ask", adminUrl, times: CALLS }));
  const pollMs = askedMs / CALLS;
  const share = (TOLD_PER_SECOND * toldMs + (1_000 / WATCH_EVERY_MS) * pollMs) / 1_000;
  return [
    row("processor time of one decision told", toldMs * 1_000, "µs"),
    row("processor time of a list and an explanation", pollMs, "ms"),
    row("share of a core for a page that watches", share, "cores", "≤ 0.05"),
  ];
};

const READERS = [0, 1, 10] as const;
const READ_MS = 3_000;
const READ_ROUNDS = 4;

/** What a decision at a steady pace takes of this process, by how many read the stream, in turns. */
const processorByReaders = async (house: House, pacer: ChildProcess, reader: ChildProcess): Promise<BenchRow[]> => {
  const { frontUrl, adminUrl } = house;
  const spent = new Map<number, number[]>(READERS.map((readers) => [readers, []]));
  for (let round = 0; round < READ_ROUNDS; round++) {
    for (const readers of READERS) {
      await told(reader, "begun", { kind: "read", adminUrl, readers });
      await told(pacer, "begun", { kind: "pace", frontUrl, perSecond: READ_PER_SECOND, model: SIMULATED_ALIAS });
      const fromMs = performance.now();
      let perSecond = 0;
      const spentMs = await processorMs(async () => {
        await pause(READ_MS);
        ({ perSecond } = await told(pacer, "stopped", { kind: "stop" }));
      });
      const decisions = (perSecond * (performance.now() - fromMs)) / 1_000;
      await told(reader, "stopped", { kind: "stop" });
      spent.get(readers)?.push((spentMs * 1_000) / decisions);
    }
  }
  const [nobody = 0] = [median(spent.get(0) ?? [])];
  return READERS.map((readers) => {
    const value = median(spent.get(readers) ?? []);
    const against = readers === 0 ? {} : { against: "nobody", ratio: nobody / value, bound: "≥ 0.95" };
    return { ...row(`processor time of a turn while ${readers} read the stream`, value, "µs"), ...against };
  });
};

export const bench: Bench = {
  name: "admin-load",
  run: async () => {
    // A machine that is busy answers probes late, and the front door would take the regions for dead.
    await using house = await startHouse({ regions: { probe: null } });
    const { frontUrl, adminUrl } = house;
    using pacer = forked("admin-clients.ts");
    using watcher = forked("admin-clients.ts");
    using load = forked("http-load.ts");
    await told(pacer, "begun", { kind: "pace", frontUrl, perSecond: PER_SECOND, model: SIMULATED_ALIAS });
    await told(watcher, "asked", { kind: "ask", adminUrl, times: 30 });
    const asked = await told(watcher, "asked", { kind: "ask", adminUrl, times: ASKED });
    const { perSecond } = await told(pacer, "stopped", { kind: "stop" });
    const share = await shareOfWatching(adminUrl, watcher);
    const byReaders = await processorByReaders(house, pacer, watcher);
    const order = turnOrder(frontUrl);
    const alone = async (): Promise<number> => (await ask<LoadResult>(load, order)).perSecond;
    const watched = async (): Promise<number> => {
      await told(watcher, "begun", { kind: "watch", adminUrl, everyMs: WATCH_EVERY_MS });
      const reached = await alone();
      await told(watcher, "stopped", { kind: "stop" });
      return reached;
    };
    const pairs = await alternate(PAIRS, watched, alone);
    return [
      row("background while asked", perSecond, "decisions/s"),
      row("GET /conversations?limit=50&sort=tokens, p50", asked.list.p50, "ms"),
      row("… p99", asked.list.p99, "ms"),
      row("POST /explain, p50", asked.explain.p50, "ms"),
      row("… p99", asked.explain.p99, "ms"),
      ...share,
      ...byReaders,
      {
        ...{ what: "turns at the front door while a page watches", value: pairs.a, unit: "turns/s" },
        ...{ against: "nobody watching", ratio: pairs.ratio, bound: "≥ 0.95" },
      },
    ];
  },
};
