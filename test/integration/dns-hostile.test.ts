/** A hostile internet: the process lives, its memory is flat, and whoever asks properly is answered. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { framed, openTcp, openUdp, queryOctets, readReply, type TcpClient } from "#test/support/dns-client.ts";
import { type DnsProcess, startDnsProcess } from "#test/support/dns-process.ts";
import { makeNamespace } from "#test/support/network-namespace.ts";
import type { Place } from "#test/support/place.ts";
import { sendRawUdp } from "#test/support/raw-udp.ts";
import { until } from "#test/support/until.ts";

/** What a process may have grown by: a heap that is collected now and then breathes by some tens of MB. */
const FLAT_OCTETS = 96 * 1_024 * 1_024;
const LOOPBACK = { address: "127.0.0.1", perPrefixQps: null, tcpIdleMs: 60_000 };

const query = (id: number, name = "chat"): Buffer => queryOctets({ id, name: `${name}.gslb.example.org`, opt: {} });

/** Asks until an answer comes, as resolvers do: a datagram may be lost where many come. */
const answersUdp = async (dns: DnsProcess, times = 20): Promise<void> => {
  await using client = await openUdp(dns);
  for (let id = 0; id < times; id++) {
    const answered = client.next();
    let isThere = false;
    void answered.then(() => {
      isThere = true;
    });
    const asking = setInterval(() => client.send(query(id)), 200);
    client.send(query(id));
    await until(() => isThere, `an answer to query ${id}`);
    clearInterval(asking);
    assert.equal(readReply(await answered).rcode, 0);
  }
};
const answersTcp = async (client: TcpClient, id: number): Promise<void> => {
  await client.write(framed(query(id)));
  assert.equal(readReply(await client.next()).packet.id, id);
};
const isUnharmed = async (dns: DnsProcess, rssBefore: number): Promise<void> => {
  await answersUdp(dns);
  await using client = await openTcp(dns);
  await answersTcp(client, 7);
  assert.equal(dns.exitCode(), null);
  assert.equal(await dns.metric("gtm_dns_answer_faults_total"), 0);
  await isFlat(dns, rssBefore);
};
const isFlat = async (dns: DnsProcess, rssBefore: number): Promise<void> => {
  const grown = (await dns.rss()) - rssBefore;
  assert.ok(grown < FLAT_OCTETS, `the process has grown by ${Math.round(grown / 1_048_576)} MB`);
};
/** What a server of this kind uses once it has seen traffic. */
const warmRss = async (dns: DnsProcess): Promise<number> => {
  await answersUdp(dns, 50);
  return dns.rss();
};
const openMany = (dns: DnsProcess, count: number): Promise<TcpClient[]> =>
  Promise.all(Array.from({ length: count }, () => openTcp(dns)));
const destroyAll = (clients: readonly TcpClient[]): void => {
  for (const { socket } of clients) socket.destroy();
};

describe("over UDP", () => {
  it("answers, pointer chains and noise by the ten thousand leave no trace", async () => {
    await using dns = await startDnsProcess(LOOPBACK);
    const before = await warmRss(dns);
    await using client = await openUdp(dns);
    const chain = Buffer.concat(Array.from({ length: 250 }, (_, i) => Buffer.from([0xc0, 12 + (i % 200)])));
    const shapes = [
      queryOctets({ flags: 0x8180 }),
      queryOctets({ question: chain }),
      queryOctets({ counts: [1, 0, 0, 0xffff], tail: chain }),
      Buffer.alloc(1_400, 0xff),
      Buffer.alloc(3),
    ];
    for (let round = 0; round < 100; round++) {
      for (let i = 0; i < 100; i++) client.send(shapes[i % shapes.length] ?? query(1));
      // Then nothing waits in the kernel that could be lost.
      client.send(query(0x4000 + round));
      while ((await client.next()).readUInt16BE(0) !== 0x4000 + round);
    }
    assert.ok((await dns.metric("gtm_dns_dropped_total", { reason: "response" })) >= 2_000);
    await isUnharmed(dns, before);
  });

  it("a flood from ten thousand networks, and one network that asks without end, change nothing for others", async () => {
    await using dns = await startDnsProcess({ ...LOOPBACK, perPrefixQps: 200 });
    const flood = async (): Promise<void> => {
      const flooding = floodFromLoopback(dns);
      await answersUdp(dns);
      await flooding;
      await answersUdp(dns);
    };
    await flood();
    const before = await dns.rss();
    await flood();
    await isUnharmed(dns, before);
    await until(async () => (await dns.metric("gtm_dns_rate_limited_total", { action: "slip" })) > 0);
  });
});

/** From addresses that any process of this host may take: 127.0.0.0/8 is 65 536 networks of 256. */
const floodFromLoopback = async (dns: DnsProcess): Promise<void> => {
  const from = async (address: string, count: number): Promise<void> => {
    const socket = createSocket("udp4");
    socket.bind(0, address);
    await once(socket, "listening");
    for (let id = 0; id < count; id++) {
      socket.send(query(id), dns.port, dns.address);
      // The others have their turn, and so has what was sent.
      if (id % 64 === 63) await nextTurn();
    }
    socket.close();
  };
  const networks = Array.from({ length: 10_000 }, (_, at) => `127.${100 + Math.floor(at / 250)}.${at % 250}.1`);
  const some = async (): Promise<void> => {
    for (const address of networks) await from(address, 4);
  };
  await Promise.all([some(), from("127.99.0.9", 20_000)]);
};

/** Raw sockets and forged addresses are for root only, or for whoever is root in a namespace of his own. */
describe("with forged addresses", () => {
  it("a datagram from port 0 is dropped (P74)", async () => {
    using within = await makeNamespace();
    await using dns = await startDnsProcess(LOOPBACK, within);
    await isAnswered(dns, within);
    const before = await dns.rss();
    const from = { address: "127.0.0.1", port: 0 };
    const sent = { to: dns, payload: query(1), count: 100, perSecond: null, from, seed: 0, within };
    assert.equal(await sendRawUdp(sent), 100);
    await until(async () => (await dns.metric("gtm_dns_dropped_total", { reason: "port-zero" })) === 100);
    await isAnswered(dns, within);
    assert.equal(dns.exitCode(), null);
    await isFlat(dns, before);
  });

  it("a flood from forged addresses changes nothing for others", async () => {
    using within = await makeNamespace();
    await using dns = await startDnsProcess({ ...LOOPBACK, address: "198.18.0.53", perPrefixQps: 200 }, within);
    const flood = async (seed: number): Promise<void> => {
      const sent = Promise.all([
        // Slow enough that most come through and are remembered; and one network as fast as the kernel lets it.
        sendRawUdp({ to: dns, within, payload: query(1), count: 45_000, perSecond: 15_000, from: null, seed }),
        sendRawUdp({ to: dns, within, payload: query(2, "huge"), count: 20_000, perSecond: null, from: FORGED, seed }),
      ]);
      await isAnswered(dns, within);
      await sent;
      await isAnswered(dns, within);
    };
    await flood(1);
    const before = await dns.rss();
    await flood(2);
    assert.equal(dns.exitCode(), null);
    await isFlat(dns, before);
    // The one network in whose name so much was asked was limited; whoever was random was not.
    await until(async () => (await dns.metric("gtm_dns_rate_limited_total", { action: "slip" })) > 0);
  });
});

/** Somebody in whose name another asks. */
const FORGED = { address: "203.0.113.9", port: 4_053 };

/** dig asks there, with its own retries. */
const isAnswered = async (dns: DnsProcess, within: Place): Promise<void> => {
  const words = ["-p", String(dns.port), `@${dns.address}`, "chat.gslb.example.org", "+tries=10", "+time=1", "+short"];
  const { stdout, stderr } = await within.run(["dig", ...words]);
  assert.match(stdout, /^192\.0\.2\.\d+$/m, stderr);
};

describe("over TCP", () => {
  it("messages of 64 KB close their connections, whatever is in them", async () => {
    await using dns = await startDnsProcess(LOOPBACK);
    const before = await warmRss(dns);
    const chains = framed(Buffer.alloc(65_535, Buffer.from([0xc0, 12])));
    for (let round = 0; round < 10; round++) {
      const clients = await openMany(dns, 20);
      for (const { socket } of clients) socket.write(chains);
      await Promise.all(clients.map(({ closed }) => closed));
      destroyAll(clients);
    }
    assert.equal(await dns.metric("gtm_dns_tcp_closed_total", { reason: "too-long" }), 200);
    await isUnharmed(dns, before);
  });

  it("queries that come octet by octet, from sixty at once, are answered", async () => {
    await using dns = await startDnsProcess(LOOPBACK);
    const before = await warmRss(dns);
    const clients = await openMany(dns, 60);
    const octets = framed(query(9));
    for (const octet of octets) await Promise.all(clients.map((client) => client.write(Buffer.from([octet]))));
    for (const client of clients) assert.equal(readReply(await client.next()).packet.id, 9);
    destroyAll(clients);
    await isUnharmed(dns, before);
  });

  it("readers that never read are not answered beyond what was bargained for, and are destroyed", async () => {
    await using dns = await startDnsProcess({ ...LOOPBACK, tcpIdleMs: 1_500 });
    const many = Buffer.concat(Array.from({ length: 4_000 }, (_, id) => framed(query(id, "huge"))));
    const attack = async (times: number): Promise<void> => {
      const clients = await openMany(dns, 50);
      for (const { socket } of clients) {
        socket.pause();
        socket.write(many);
      }
      // They never see their connection end, since they do not read; the server says so.
      await until(async () => (await dns.metric("gtm_dns_tcp_closed_total", { reason: "idle" })) === 50 * times);
      destroyAll(clients);
    };
    // The first time the kernel's buffers are filled, and with them this process's heap.
    await attack(1);
    const before = await dns.rss();
    await attack(2);
    await isUnharmed(dns, before);
  });

  it("a thousand idle connections keep nobody out, and end by themselves", async () => {
    await using dns = await startDnsProcess({ ...LOOPBACK, tcpIdleMs: 1_500 });
    const before = await warmRss(dns);
    const clients = await openMany(dns, 1_000);
    assert.ok((await dns.metric("gtm_dns_tcp_connections")) <= 64, "as many as one peer may have");
    await isUnharmed(dns, before);
    await Promise.all(clients.map(({ closed }) => closed));
    destroyAll(clients);
    await isUnharmed(dns, before);
  });
});
