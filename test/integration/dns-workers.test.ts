/** Several threads that answer DNS on one port: whoever is asked, the answer is the same, also while one of them dies. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Decision } from "#gtm/domain/decision.ts";
import { cellOf } from "#gtm/steering/cell.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { OperationalError } from "#shared/errors.ts";
import type { PoolName } from "#shared/ids.ts";
import { aClient } from "#test/support/builders.ts";
import {
  askTcp,
  framed,
  type OptWish,
  openTcp,
  openUdp,
  optionOctets,
  type QueryWish,
  queryOctets,
  readReply,
  subnetOption,
  type UdpClient,
} from "#test/support/dns-client.ts";
import { type DnsThreads, startDnsThreads } from "#test/support/dns-threads.ts";
import { aDnsSetting } from "#test/support/dns-zone.ts";
import { until } from "#test/support/until.ts";

const ZONE = "gslb.example.org";
const LABEL = "p1label";
/** The kernel chooses a thread by the client's port, so of so many clients each thread has some, but for one run in billions. */
const CLIENTS = 32;

type Clients = AsyncDisposable & { readonly ask: (wish: QueryWish) => Promise<readonly Buffer[]> };

/** Each asks the same, and what they get is comparable octet by octet. */
const clientsOf = async ({ at }: DnsThreads): Promise<Clients> => {
  const clients: UdpClient[] = [];
  for (let i = 0; i < CLIENTS; i++) clients.push(await openUdp(at));
  return {
    ask: (wish) => Promise.all(clients.map((client) => client.ask(queryOctets(wish)))),
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client[Symbol.asyncDispose]();
    },
  };
};

const from = (...octets: readonly number[]): OptWish => ({ options: subnetOption(1, 24, octets) });

const distinct = (replies: readonly Buffer[]): readonly string[] => [
  ...new Set(replies.map((one) => one.toString("hex"))),
];
const dataOf = (replies: readonly Buffer[]): readonly string[] => [
  ...new Set(replies.map((one) => readReply(one).data.join())),
];

/** In its first second a cell has no region before it; from then on nothing changes. */
const settled = async (clients: Clients, threads: DnsThreads): Promise<void> => {
  await until(async () => {
    for (const wish of QUESTIONS) await clients.ask(wish);
    const again = new Set(threads.entries.filter(({ decision }) => decision.turn.home !== null).map(cellIn));
    return threads.entries.every((one) => again.has(cellIn(one)) || one.decision.verdict.kind === "unserved");
  });
};

const cellIn = ({ decision }: Entry): string => decision.turn.hashKey;

const QUESTIONS: readonly QueryWish[] = [
  { name: `chat.${ZONE}` },
  ...[
    [192, 0, 2],
    [198, 51, 100],
    [203, 0, 113],
    [8, 8, 8],
    [10, 1, 2],
  ].map((network) => ({ name: `chat.${ZONE}`, opt: from(...network) })),
  { name: `chat.${ZONE}`, type: 28, opt: from(192, 0, 2) },
  { name: `chat.${ZONE}`, type: 16 },
  { name: `web.${ZONE}`, type: 65, opt: from(198, 51, 100) },
  { name: `qwen-qwen3-coder.m.${ZONE}`, opt: from(192, 0, 2) },
  { name: `${LABEL}.c.${ZONE}`, opt: from(203, 0, 113) },
  { name: ZONE, type: 6, opt: {} },
  { name: ZONE, type: 2 },
  { name: `nowhere.${ZONE}`, opt: from(192, 0, 2) },
  { name: "elsewhere.example.net" },
];

describe("two threads that answer DNS on one port", () => {
  let threads: DnsThreads;
  let clients: Clients;
  before(async () => {
    threads = await startDnsThreads({ why: true });
    clients = await clientsOf(threads);
  });
  after(async () => {
    await clients[Symbol.asyncDispose]();
    await threads[Symbol.asyncDispose]();
  });

  it("give the same answers, octet by octet, over UDP and TCP, and both of them answer", async () => {
    await settled(clients, threads);
    for (const wish of QUESTIONS) assert.equal(distinct(await clients.ask(wish)).length, 1, JSON.stringify(wish));
    const overTcp: string[] = [];
    for (let i = 0; i < 8; i++) overTcp.push((await askTcp(threads.at, { name: `chat.${ZONE}` })).data.join());
    assert.deepEqual(new Set(overTcp), new Set(dataOf(await clients.ask({ name: `chat.${ZONE}` }))));
    await until(async () => (await threads.count("gtm_dns_worker_answers_total", { worker: "1" })) > 0);
    await until(async () => (await threads.count("gtm_dns_worker_answers_total", { worker: "0" })) > 0);
    assert.equal(await threads.count("gtm_dns_worker_disagreements_total"), 0);
  });

  it("tell of the same decision, by its id", async () => {
    const decisionIn = (reply: Buffer): string => /decision=(\w+)/.exec(readReply(reply).data.join())?.[1] ?? "none";
    // An epoch may end while the clients are being answered; not twice in a row.
    await until(async () => {
      const ids = new Set((await clients.ask({ name: `why.chat.${ZONE}`, type: 16 })).map(decisionIn));
      return ids.size === 1 && !ids.has("none");
    });
  });

  it("both hear of a region that may serve no longer", async () => {
    const near = { name: `chat.${ZONE}`, opt: from(192, 0, 2) };
    assert.deepEqual(dataOf(await clients.ask(near)), ["192.0.2.10"]);
    threads.setRegions((region) => (region.id === "frankfurt" ? { ...region, admin: "drain-all" } : region));
    await until(async () => dataOf(await clients.ask(near)).join() === "192.0.2.20");
    threads.setRegions((region) => (region.id === "frankfurt" ? { ...region, admin: "active" } : region));
    await until(async () => dataOf(await clients.ask(near)).join() === "192.0.2.10");
  });

  it("both hear of challenges of a certificate authority, and when they are over", async () => {
    const name = `_acme-challenge.chat.${ZONE}`;
    const asked = { name, type: 16 };
    threads.present(name, [{ value: "proof", actor: "lego", untilMs: Number.POSITIVE_INFINITY }]);
    await until(async () => dataOf(await clients.ask(asked)).join() === "proof");
    threads.present(name, []);
    await until(async () => dataOf(await clients.ask(asked)).join() === "");
  });

  it("both take cookies that either gave, until the secret behind them is gone", async () => {
    const cookie = (octets: Buffer): QueryWish => ({
      counts: [0, 0, 0, 1],
      question: Buffer.alloc(0),
      opt: { options: optionOctets(10, octets) },
    });
    const client = Buffer.alloc(8, 5);
    const [first = Buffer.alloc(0)] = await clients.ask(cookie(client));
    const given = first.subarray(first.length - 24);
    assert.equal(given.subarray(0, 8).toString("hex"), client.toString("hex"));
    const rcodes = async (): Promise<string> =>
      [...new Set((await clients.ask(cookie(given))).map((one) => readReply(one).rcode))].join();
    assert.equal(await rcodes(), "0");
    const [old, next] = [new Uint8Array(16).fill(7), new Uint8Array(16).fill(8)];
    threads.setFacts({ cookieKeys: [next, old] });
    assert.equal(await rcodes(), "0");
    threads.setFacts({ cookieKeys: [next] });
    // BADCOOKIE is 23: 7, and 1 in OPT.
    await until(async () => (await rcodes()) === "23");
  });
});

describe("what two threads did", () => {
  it("is counted together, and what both decided is one record that counts both's answers", async () => {
    await using threads = await startDnsThreads();
    await using clients = await clientsOf(threads);
    for (let round = 0; round < 10; round++) await clients.ask({ name: `chat.${ZONE}`, opt: from(192, 0, 2) });
    const asked = { proto: "udp", qtype: "A", rcode: "NOERROR" };
    await until(async () => (await threads.count("gtm_dns_queries_total", asked)) === 10 * CLIENTS);
    const answered = (): number => threads.entries.reduce((sum, one) => sum + one.answered.value, 0);
    await until(() => answered() === 10 * CLIENTS, "every answer is on record");
    assert.equal(new Set(threads.entries.map(({ decision }) => decision.id)).size, threads.entries.length);
    assert.equal(new Set(threads.entries.map(({ decision }) => decision.worldVersion)).size, threads.entries.length);
  });
});

describe("a conversation's label, asked of two threads", () => {
  it("is looked up once, and answered by both with what was found", async () => {
    let lookedUp = 0;
    const decision = aDecision();
    await using threads = await startDnsThreads({
      findLabel: async () => {
        lookedUp += 1;
        return {
          finding: { kind: "home", decision },
          atMs: Number.POSITIVE_INFINITY,
          candidacyVersion: 1,
        };
      },
    });
    await using clients = await clientsOf(threads);
    const replies = await clients.ask({ name: `${LABEL}.c.${ZONE}`, opt: from(203, 0, 113) });
    assert.deepEqual(dataOf(replies), ["192.0.2.10"]);
    assert.equal(lookedUp, 1);
  });

  it("is answered without the main thread where that is late, and it is said", async () => {
    await using threads = await startDnsThreads({ findLabel: () => new Promise(() => {}), labelWithinMs: 1 });
    await using clients = await clientsOf(threads);
    const replies = await clients.ask({ name: `${LABEL}.c.${ZONE}`, opt: from(203, 0, 113) });
    // Nothing is known of it: as its pool's name.
    assert.deepEqual(dataOf(replies), dataOf(await clients.ask({ name: `chat.${ZONE}`, opt: from(203, 0, 113) })));
    await until(async () => (await threads.count("gtm_dns_labels_alone_total", { reason: "late" })) > 0);
    await until(() => threads.log.lines.some(({ event }) => event === "dns.label-alone"));
  });

  it("is still answered when the server is told to stop meanwhile", async () => {
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<{ readonly kind: "stranger"; readonly pool: PoolName }>();
    await using threads = await startDnsThreads({
      findLabel: async () => {
        asked.resolve();
        return { finding: await found.promise, atMs: 0, candidacyVersion: 0 };
      },
    });
    await using tcp = await openTcp(threads.at);
    await tcp.write(framed(queryOctets({ name: `${LABEL}.c.${ZONE}` })));
    await asked.promise;
    const stopped = threads.server.stop();
    found.resolve({ kind: "stranger", pool: "chat" as PoolName });
    assert.equal(readReply(await tcp.next()).rcode, 0);
    await stopped;
  });
});

describe("a thread that dies", () => {
  it("is started again, and meanwhile the other answers", async () => {
    await using threads = await startDnsThreads();
    const ask = async (): Promise<readonly string[]> => {
      // New ones each time: what was sent to the thread that died is gone with it.
      await using clients = await clientsOf(threads);
      return dataOf(await clients.ask({ name: `chat.${ZONE}`, opt: from(192, 0, 2) }));
    };
    assert.deepEqual(await ask(), ["192.0.2.10"]);
    await threads.kill(0);
    assert.deepEqual(await ask(), ["192.0.2.10"]);
    await until(async () => (await threads.count("gtm_dns_workers")) === 2, "it is back");
    assert.equal(await threads.count("gtm_dns_worker_restarts_total"), 1);
    const ended = threads.log.lines.find(({ event }) => event === "dns.worker-ended");
    assert.deepEqual([ended?.level, ended?.fields["worker"], ended?.fields["restartInMs"]], ["error", 1, 100]);
    assert.equal(threads.away(), null);
    const before = await threads.count("gtm_dns_worker_answers_total", { worker: "1" });
    await until(async () => {
      assert.deepEqual(await ask(), ["192.0.2.10"]);
      return (await threads.count("gtm_dns_worker_answers_total", { worker: "1" })) > before;
    }, "the new one answers, too");
    assert.equal(await threads.count("gtm_dns_worker_disagreements_total"), 0);
  });
});

describe("a port that another program has", () => {
  it("is told, also where that one would share it", async () => {
    await using first = await startDnsThreads();
    await assert.rejects(
      () => startDnsThreads({ listen: first.at }),
      (fault: unknown) =>
        fault instanceof OperationalError &&
        fault.code === "GTM_LISTEN_FAILED" &&
        fault.message.includes(`udp 127.0.0.1 port ${first.at.port}`),
    );
  });
});

/** Of somebody near Frankfurt. */
const aDecision = (): Decision => {
  const { options } = aDnsSetting();
  const client = aClient("frankfurt");
  const cell = cellOf(options.defaultPool, client, 4);
  const query = {
    id: options.newId(),
    channel: "dns",
    kind: "cell",
    pool: cell.pool,
    model: cell.model,
    tenant: "default",
  } as const;
  const tokens = { promptTokens: null, outputTokens: null, outputLimitTokens: null };
  const nothing = { conversationId: null, parentId: null, pinnedTo: null, ...tokens };
  const asked = { ...query, ...nothing, stateRegion: null, clientSubnet: client.subnet, receivedAtMs: 0 };
  return options.decideCell(asked, client, cell, null);
};
