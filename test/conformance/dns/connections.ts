/** Rows P66 to P72: connections over TCP. */
import assert from "node:assert/strict";
import { framed, openTcp, queryOctets, readReply } from "#test/support/dns-client.ts";
import { startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { type Sequence, Z } from "./row.ts";

const query = (id: number, name = "chat"): Buffer => queryOctets({ id, name: `${name}.${Z}`, opt: {} });
const closedFor = "gtm_dns_tcp_closed_total";

export const CONNECTIONS: readonly Sequence[] = [
  {
    row: "P66",
    what: "20 queries in one write get 20 answers, each with its ID",
    run: async () => {
      await using dns = await startDns();
      await using client = await openTcp(dns);
      const ids = Array.from({ length: 20 }, (_, i) => 1_000 + i);
      await client.write(Buffer.concat(ids.map((id) => framed(query(id)))));
      const got: number[] = [];
      for (const _ of ids) got.push(readReply(await client.next()).packet.id ?? -1);
      assert.deepEqual(got.sort(), ids);
    },
  },
  {
    row: "P67",
    what: "a query that comes one octet a write gets one answer",
    run: async () => {
      await using dns = await startDns();
      await using client = await openTcp(dns);
      for (const octet of framed(query(77))) await client.write(Buffer.from([octet]));
      assert.equal(readReply(await client.next()).packet.id, 77);
    },
  },
  {
    row: "P68",
    what: "a message of length zero closes the connection, and what follows is not answered",
    run: async () => {
      await using dns = await startDns();
      await using client = await openTcp(dns);
      await client.write(Buffer.concat([framed(query(1)), Buffer.from([0, 0]), framed(query(2))]));
      assert.equal(readReply(await client.next()).packet.id, 1);
      await assert.rejects(client.next(), /closed/);
      assert.equal(await metricValue(dns.metrics, closedFor, { reason: "empty" }), 1);
    },
  },
  {
    row: "P70, P71",
    what: "half a query followed by silence: the connection is destroyed, and others go on",
    run: async () => {
      await using dns = await startDns({ limits: { tcpIdleMs: 40 } });
      await using silent = await openTcp(dns);
      await silent.write(framed(query(1)).subarray(0, 9));
      await until(async () => (await metricValue(dns.metrics, "gtm_dns_tcp_connections")) === 1);
      dns.clock.advance(30);
      await using other = await openTcp(dns);
      await other.write(framed(query(2)));
      assert.equal(readReply(await other.next()).packet.id, 2);
      dns.clock.advance(15);
      await silent.closed;
      assert.equal(await metricValue(dns.metrics, closedFor, { reason: "idle" }), 1);
      await other.write(framed(query(3)));
      assert.equal(readReply(await other.next()).packet.id, 3);
    },
  },
  {
    row: "P71",
    what: "single octets do not keep it open: only a whole query counts",
    run: async () => {
      await using dns = await startDns({ limits: { tcpIdleMs: 40 } });
      await using dripping = await openTcp(dns);
      const octets = framed(query(1));
      for (let at = 0; at < 3; at++) {
        await dripping.write(octets.subarray(at, at + 1));
        dns.clock.advance(20);
      }
      await dripping.closed;
      assert.equal(await metricValue(dns.metrics, closedFor, { reason: "idle" }), 1);
    },
  },
  {
    row: "P70",
    what: "more connections than the cap: the longest idle gives way",
    run: async () => {
      await using dns = await startDns({ limits: { tcpConnections: 2 } });
      await using first = await openTcp(dns);
      await using second = await openTcp(dns);
      for (const client of [second, first]) {
        await client.write(framed(query(1)));
        await client.next();
      }
      await using third = await openTcp(dns);
      await second.closed;
      for (const client of [first, third]) {
        await client.write(framed(query(2)));
        assert.equal(readReply(await client.next()).packet.id, 2);
      }
      assert.equal(await metricValue(dns.metrics, closedFor, { reason: "evicted" }), 1);
    },
  },
  {
    row: "P72",
    what: "a client that does not read is not read from either: what waits for it stays bounded",
    run: async () => {
      await using dns = await startDns();
      await using client = await openTcp(dns);
      client.socket.pause();
      // 4 000 answers of 3 200 octets are 12 MB: more than both kernels' buffers take.
      const many = Buffer.concat(Array.from({ length: 4_000 }, (_, id) => framed(query(id, "huge"))));
      client.socket.write(many);
      const answered = () =>
        metricValue(dns.metrics, "gtm_dns_queries_total", { proto: "tcp", qtype: "A", rcode: "NOERROR" });
      let before = -1;
      await until(async () => {
        const now = await answered();
        const stands = now > 0 && now === before;
        before = now;
        return stands;
      });
      assert.ok(before < 4_000, `${before} of 4 000 queries were answered while nobody read`);
      await using other = await openTcp(dns);
      await other.write(framed(query(1)));
      assert.equal(readReply(await other.next()).packet.id, 1);
      client.socket.resume();
      for (let i = 0; i < 4_000; i++) await client.next();
      await until(async () => (await answered()) === 4_001);
    },
  },
  {
    row: "P70",
    what: "connections of one peer give way to its own next one, and not to another's",
    run: async () => {
      await using dns = await startDns({ limits: { tcpConnections: 3, tcpConnectionsPerPeer: 2 } });
      await using first = await openTcp(dns);
      await using second = await openTcp(dns);
      const asks = async (client: typeof first): Promise<void> => {
        await client.write(framed(queryOctets({ id: 9 })));
        assert.equal(readReply(await client.next()).packet.id, 9);
      };
      await asks(first);
      await asks(second);
      await using third = await openTcp(dns);
      await first.closed;
      await asks(second);
      await asks(third);
      assert.equal(await metricValue(dns.metrics, "gtm_dns_tcp_closed_total", { reason: "evicted" }), 1);
    },
  },
];
