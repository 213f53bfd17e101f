/**
 * Answers a second of one DNS process, a pool's name from ten thousand client networks and ten thousand labels in turn, against
 * a bare dgram echo.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { createAnswerer } from "#gtm/wire/dns/answerer.ts";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";
import { createGenerations } from "#gtm/wire/dns/generations.ts";
import { readQuery } from "#gtm/wire/dns/query.ts";
import { optionOctets, queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { answererOptions } from "#test/support/dns-zone.ts";
import {
  alternate,
  type Bench,
  type BenchRow,
  bytesPerIteration,
  consume,
  type Loop,
  median,
  nsPerIteration,
} from "./bench.ts";
import type { LoadDone, LoadOrder } from "./dns-load.ts";
import type { ServerKind, ServerReady, ServerUsage } from "./dns-server.ts";
import { dnsSubject, mixedQueries, subnetQueries } from "./dns-subject.ts";

const PAIRS = 10;
/** Two, so that the generators and not the server wait: each does about as much a query as the echo does. */
const GENERATORS = 2;
const QUERIES_EACH = 30_000;
const STEPS = 100_000;

const start = async (file: string, ...args: readonly string[]) => {
  const child = fork(join(import.meta.dirname, file), args);
  const [first] = (await once(child, "message")) as [unknown];
  return { child, first };
};

const ask = async <Answer>(child: ChildProcess, question: object): Promise<Answer> => {
  const answer = once(child, "message");
  child.send(question);
  return ((await answer) as [Answer])[0];
};

const cpuUsOf = async (child: ChildProcess): Promise<number> => (await ask<ServerUsage>(child, {})).cpuUs;

const WHAT = "DNS, pool name by 10 000 client /24s and 10 000 labels, one process";

/** Each with a cookie that the server does not know, which costs most: two hashes. */
const cookieQueries = (): readonly Buffer[] =>
  subnetQueries().map((_, i) => {
    const subnet = subnetOption(1, 24, [100, (i >>> 8) & 255, i & 255]);
    const cookie = optionOctets(10, Buffer.concat([Buffer.alloc(8, i), Buffer.from([1, 0, 0, 0]), Buffer.alloc(12)]));
    return queryOctets({ id: i, opt: { options: Buffer.concat([subnet, cookie]) } });
  });

/** The answer step alone, octets in, octets out; every network and label has been asked for once. */
const stepLoop = async (queries: readonly Buffer[]): Promise<Loop> => {
  const { options } = dnsSubject();
  const step = createAnswerer(answererOptions(options))("udp");
  const out = Buffer.alloc(1_232);
  for (const query of queries) await step(query, "127.0.0.1", out);
  let at = 0;
  return (iterations) => {
    let octets = 0;
    for (let i = 0; i < iterations; i++) {
      at = (at + 1) % queries.length;
      const length = step(queries[at] ?? out, "127.0.0.1", out);
      octets += typeof length === "number" ? length : 0;
    }
    return octets;
  };
};

/** Microseconds of processor time. */
const stepUs = (loop: Loop): number => {
  const microseconds: number[] = [];
  for (let run = 0; run < 9; run++) {
    // Processor time, not time: the step neither waits nor sleeps, and other processes may.
    const before = process.cpuUsage();
    loop(STEPS);
    const { user, system } = process.cpuUsage(before);
    microseconds.push((user + system) / STEPS);
  }
  return median(microseconds);
};

const stepRows = async (): Promise<readonly BenchRow[]> => {
  const loop = await stepLoop(subnetQueries());
  const mixedLoop = await stepLoop(mixedQueries());
  const cookieLoop = await stepLoop(cookieQueries());
  const what = "DNS, the answer step alone";
  const row = { unit: "µs/answer", against: null, ratio: null, bound: null };
  return [
    { what, value: stepUs(loop), ...row },
    { what: `${what}, every second a label`, value: stepUs(mixedLoop), ...row },
    { what: `${what}, with a cookie`, value: stepUs(cookieLoop), ...row },
    // An object a query would be 24 or more.
    { what, value: await bytesPerIteration(20_000, loop), unit: "bytes", against: null, ratio: null, bound: "≤ 8" },
    {
      ...{ what: `${what}, every second a label`, value: await bytesPerIteration(20_000, mixedLoop) },
      ...{ unit: "bytes", against: null, ratio: null, bound: "≤ 8" },
    },
  ];
};

/** A query that costs as much as 64 KB can: records without data, each name a pointer. Processor time, as above. */
const longestQueryRow = (): BenchRow => {
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
  const tail = Buffer.concat(Array.from({ length: 5_400 }, () => record));
  const octets = queryOctets({ counts: [1, 0, 0, 5_400], tail });
  const query = emptyQuery();
  const rounds = 500;
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) consume(readQuery(octets, query));
  const { user, system } = process.cpuUsage(before);
  const value = (user + system) / rounds;
  return { what: "DNS, a query of 64 KB read", value, unit: "µs", against: null, ratio: null, bound: "≤ 1000" };
};

/** A hit among ten thousand networks: why the networks are not kept in an lru-cache. */
const lookUpRow = async (): Promise<BenchRow> => {
  const own = createGenerations<object>(131_072);
  const cache = new LRUCache<number, object>({ max: 131_072 });
  const keys = Array.from({ length: 10_000 }, (_, i) => (1 << 24) | ((i * 7_919) & 0xffffff));
  for (const key of keys) {
    own.add(0, key, {});
    cache.set(key, {});
  }
  const hits = (has: (key: number) => unknown): Promise<number> =>
    nsPerIteration(1_000_000, (iterations) => {
      let found = 0;
      for (let i = 0; i < iterations; i++) if (has(keys[(i * 31) % keys.length] ?? 0) !== undefined) found += 1;
      return found;
    });
  const options = {};
  const { a, ratio } = await alternate(
    PAIRS,
    () => hits((key) => own.get(0, key)),
    () => hits((key) => cache.get(key, options)),
  );
  return { what: "DNS, a network looked up", value: a, unit: "ns", against: "lru-cache", ratio, bound: null };
};

export const bench: Bench = {
  name: "dns",
  run: async () => {
    const answerStep = [...(await stepRows()), await lookUpRow(), longestQueryRow()];
    const startServer = async (kind: ServerKind) => {
      const { child, first } = await start("dns-server.ts", kind);
      return { child, port: (first as ServerReady).port, cpuUs: [] as number[] };
    };
    const dns = await startServer("dns");
    const echo = await startServer("echo");
    const generators = await Promise.all(Array.from({ length: GENERATORS }, () => start("dns-load.ts")));

    /** @returns answers a second */
    const measure = async (server: typeof dns): Promise<number> => {
      const before = await cpuUsOf(server.child);
      const order: LoadOrder = { port: server.port, queries: QUERIES_EACH };
      const done = await Promise.all(generators.map(({ child }) => ask<LoadDone>(child, order)));
      const answered = done.reduce((sum, one) => sum + one.answered, 0);
      const other = done.reduce((sum, one) => sum + one.other, 0);
      if (other > 0) throw new Error(`${other} of ${answered + other} replies were no answers`);
      server.cpuUs.push(((await cpuUsOf(server.child)) - before) / answered);
      return answered / (Math.max(...done.map(({ elapsedMs }) => elapsedMs)) / 1_000);
    };

    const { a, ratio } = await alternate(
      PAIRS,
      () => measure(dns),
      () => measure(echo),
    );
    for (const child of [dns.child, echo.child, ...generators.map((one) => one.child)]) child.disconnect();
    const cpu = { dns: median(dns.cpuUs.slice(1)), echo: median(echo.cpuUs.slice(1)) };
    return [
      { what: WHAT, value: a, unit: "answers/s", against: "dgram echo", ratio, bound: "≥ 0.6" },
      {
        what: `${WHAT}: processor time`,
        value: cpu.dns,
        unit: "µs/answer",
        against: "dgram echo",
        ratio: cpu.dns / cpu.echo,
        bound: null,
      },
      ...answerStep,
    ];
  },
};
