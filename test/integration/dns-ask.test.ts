/** One question to servers that answer, are late, or are not there. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { type Asked, askNetwork, askWhole } from "#gtm/dns-check/ask.ts";
import type { Query } from "#gtm/dns-check/message.ts";
import { PLAIN_OPT } from "#gtm/dns-check/opt.ts";
import { startDns } from "#test/support/dns-zone.ts";
import { freePort } from "#test/support/free-port.ts";

const SOA: Query = { name: "gslb.example.org", type: "SOA", opt: PLAIN_OPT };
const why = (asked: Asked): string => (asked.kind === "failed" ? asked.why : "it answered");
const transports = ["udp", "tcp"] as const;

describe("a question to a server", { timeout: 60_000 }, () => {
  it("is answered over either transport, and what is cut short is asked for again over TCP", async () => {
    await using server = await startDns();
    for (const transport of transports) {
      const asked = await askNetwork(server, SOA, transport);
      assert.ok(asked.kind === "answered" && asked.reply.answers.length === 1, why(asked));
    }
    const many = await askWhole(askNetwork, server, { name: "huge.gslb.example.org", type: "A", opt: null });
    assert.equal(many.kind === "answered" ? many.reply.answers.length : 0, 200, why(many));
  });
  it("fails at once where nobody listens, and where there is no way", async () => {
    const port = await freePort();
    for (const transport of transports) {
      const refused = await askNetwork({ address: "127.0.0.1", port }, SOA, transport);
      assert.equal(why(refused), "nobody listens there");
      // The broadcast address, which no socket may be connected with.
      const nowhere = await askNetwork({ address: "255.255.255.255", port }, SOA, transport);
      assert.equal(nowhere.kind, "failed");
    }
  });
  it("is asked twice over UDP, and has an end over both", async () => {
    const udp = createSocket("udp4");
    const come: number[] = [];
    udp.on("message", (octets) => come.push(octets.readUInt16BE(0)));
    udp.bind(await freePort(), "127.0.0.1");
    await once(udp, "listening");
    const sockets: Socket[] = [];
    const tcp = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
    }).listen(udp.address().port, "127.0.0.1");
    await once(tcp, "listening");
    const peer = { address: "127.0.0.1", port: udp.address().port };
    const [silent, slow] = await Promise.all(transports.map((transport) => askNetwork(peer, SOA, transport)));
    assert.deepEqual(
      [silent, slow].map((one) => one && why(one)),
      ["no answer within 3 s", "no answer within 3 s"],
    );
    assert.equal(come.length, 2);
    udp.close();
    for (const socket of sockets) socket.destroy();
    tcp.close();
  });
  it("is not answered by octets that are no message, nor by a connection that closes", async () => {
    const udp = createSocket("udp4");
    // The number is right, and what follows is not.
    udp.on("message", (octets, { port, address }) =>
      udp.send(Buffer.concat([octets.subarray(0, 2), Buffer.from("84000001000100000000c00c", "hex")]), port, address),
    );
    udp.bind(await freePort(), "127.0.0.1");
    await once(udp, "listening");
    const tcp = createServer((socket) => socket.end()).listen(udp.address().port, "127.0.0.1");
    await once(tcp, "listening");
    const peer = { address: "127.0.0.1", port: udp.address().port };
    assert.match(why(await askNetwork(peer, SOA, "udp")), /^its answer cannot be read \(/);
    assert.match(why(await askNetwork(peer, SOA, "tcp")), /connection is (closed without an answer|reset)/);
    udp.close();
    tcp.close();
  });
});
