/** DNS over TCP: framing, many queries at once, and peers that send too little, too much, or do not read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { framed, openTcp, queryOctets, readReply } from "#test/support/dns-client.ts";
import { startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";

const query = (id: number, name = "chat"): Buffer => queryOctets({ id, name: `${name}.gslb.example.org`, opt: {} });
const closedFor = "gtm_dns_tcp_closed_total";

describe("a connection over TCP", () => {
  it("gets 20 answers to 20 queries in one write, each with its ID (P66)", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    const ids = Array.from({ length: 20 }, (_, i) => 1_000 + i);
    await client.write(Buffer.concat(ids.map((id) => framed(query(id)))));
    const got: number[] = [];
    for (const _ of ids) got.push(readReply(await client.next()).packet.id ?? -1);
    assert.deepEqual(got.sort(), ids);
  });

  it("gets one answer to a query that comes one octet a write (P67)", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    for (const octet of framed(query(77))) await client.write(Buffer.from([octet]));
    assert.equal(readReply(await client.next()).packet.id, 77);
  });

  it("is closed by a message of length zero, and what follows is not answered (P68)", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    await client.write(Buffer.concat([framed(query(1)), Buffer.from([0, 0]), framed(query(2))]));
    assert.equal(readReply(await client.next()).packet.id, 1);
    await assert.rejects(client.next(), /closed/);
    assert.equal(await metricValue(dns.metrics, closedFor, { reason: "empty" }), 1);
  });

  it("is closed by a query of more than 1 KB, and queries before it are answered", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    await client.write(Buffer.concat([framed(query(1)), framed(Buffer.alloc(1_025, 1))]));
    assert.equal(readReply(await client.next()).packet.id, 1);
    await client.closed;
    assert.equal(await metricValue(dns.metrics, closedFor, { reason: "too-long" }), 1);
  });

  it("is destroyed when half a query is followed by silence, and others go on (P70, P71)", async () => {
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
  });

  it("is not kept open by single octets: only a whole query counts", async () => {
    await using dns = await startDns({ limits: { tcpIdleMs: 40 } });
    await using dripping = await openTcp(dns);
    const octets = framed(query(1));
    for (let at = 0; at < 3; at++) {
      await dripping.write(octets.subarray(at, at + 1));
      dns.clock.advance(20);
    }
    await dripping.closed;
    assert.equal(await metricValue(dns.metrics, closedFor, { reason: "idle" }), 1);
  });

  it("gives way, the longest idle first, when there are more than the cap (P70)", async () => {
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
  });

  it("that does not read is not read from either: what waits for it stays bounded (P72)", async () => {
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
  });

  it("still gets its answer after it has said that it sends no more", async () => {
    const found = Promise.withResolvers<Conversation | null>();
    await using dns = await startDns({ findConversation: () => found.promise });
    await using client = await openTcp(dns);
    client.socket.end(framed(query(9, "somebody.c")));
    await until(async () => (await metricValue(dns.metrics, "gtm_dns_labels_total", { kind: "stranger" })) === 1);
    found.resolve(null);
    assert.equal(readReply(await client.next()).packet.id, 9);
    await client.closed;
  });
});

describe("stopping the server", () => {
  it("first gives the answers that are under way, over TCP and UDP, and then takes nothing", async () => {
    const found = Promise.withResolvers<Conversation | null>();
    const dns = await startDns({ findConversation: () => found.promise });
    await using client = await openTcp(dns);
    await client.write(framed(query(5, "somebody.c")));
    await until(async () => (await metricValue(dns.metrics, "gtm_dns_labels_total", { kind: "stranger" })) === 1);
    const stopping = dns[Symbol.asyncDispose]();
    await client.write(framed(query(6)));
    found.resolve(null);
    assert.equal(readReply(await client.next()).packet.id, 5);
    await assert.rejects(client.next(), /closed/);
    await stopping;
    await assert.rejects(openTcp(dns), /ECONNREFUSED/);
  });

  it("does not wait for a peer that never closes", async () => {
    const dns = await startDns({ limits: { tcpCloseMs: 20 } });
    await using client = await openTcp(dns);
    client.socket.allowHalfOpen = true;
    await client.write(framed(query(5)));
    await client.next();
    await dns[Symbol.asyncDispose]();
    assert.equal(await metricValue(dns.metrics, closedFor, { reason: "stopping" }), 1);
  });
});
