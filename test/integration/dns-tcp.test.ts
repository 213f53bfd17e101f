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
  it("is closed by a query of more than 1 KB, and queries before it are answered", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    await client.write(Buffer.concat([framed(query(1)), framed(Buffer.alloc(1_025, 1))]));
    assert.equal(readReply(await client.next()).packet.id, 1);
    await client.closed;
    assert.equal(await metricValue(dns.metrics, closedFor, { reason: "too-long" }), 1);
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

describe("a peer that asks much, says that it sends no more, and then reads", () => {
  it("gets all its answers", async () => {
    await using dns = await startDns();
    await using client = await openTcp(dns);
    client.socket.pause();
    const ids = Array.from({ length: 4_000 }, (_, id) => id);
    client.socket.end(Buffer.concat(ids.map((id) => framed(query(id, "huge")))));
    const answered = () => metricValue(dns.metrics, "gtm_dns_queries_total", { proto: "tcp" });
    await until(async () => (await answered()) > 0);
    client.socket.resume();
    for (const id of ids) assert.equal((await client.next()).readUInt16BE(0), id);
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
