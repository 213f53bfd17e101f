import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AnswerStep } from "#gtm/wire/dns/answer.ts";
import type { Libc } from "#gtm/wire/dns/libc.ts";
import { portOf, SOCKADDR_OCTETS, writeSocketAddress } from "#gtm/wire/dns/socket-address.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { createBatches } from "#gtm/wire/dns/udp-batches.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";

const FD = 9;
const EPERM = 1;
const ENOMEM = 12;

type Datagram = { readonly text: string; readonly port: number };

/** What the two calls of a kernel do with struct mmsghdr, as recvmmsg(2) and readv(2) describe it. */
const aKernel = () => {
  const memories: { readonly from: bigint; readonly octets: Buffer }[] = [];
  const waiting: Datagram[] = [];
  const sent: Datagram[] = [];
  const calls: string[] = [];
  /** Ports that it sends nothing to. */
  const forbidden = new Set<number>();
  let receiveFault = 0;
  const placeOf = (at: bigint) => {
    const memory = memories.find(({ from, octets }) => at >= from && at < from + BigInt(octets.length));
    assert.ok(memory !== undefined, "a pointer into what was allocated");
    return { memory: memory.octets, at: Number(at - memory.from) };
  };
  const headerAt = (at: bigint, i: number) => {
    const { memory, at: header } = placeOf(at + BigInt(i * 64));
    const vector = placeOf(memory.readBigUInt64LE(header + 16)).at;
    assert.equal(memory.readBigUInt64LE(header + 24), 1n);
    assert.equal(memory.readBigUInt64LE(header + 32), 0n, "no control data");
    return { memory, header, vector, ...spacesOf(memory, header, vector) };
  };
  const spacesOf = (memory: Buffer, header: number, vector: number) => {
    const name = placeOf(memory.readBigUInt64LE(header)).at;
    const datagram = placeOf(memory.readBigUInt64LE(vector)).at;
    const octets = Number(memory.readBigUInt64LE(vector + 8));
    return { name, nameOctets: memory.readUInt32LE(header + 8), datagram, octets };
  };
  const libc: Libc = {
    addressOf: (buffer) => {
      const from = 0x7f00_0000_0000n + BigInt(memories.length) * 0x1000_0000n;
      memories.push({ from, octets: Buffer.from(buffer) });
      return from;
    },
    receive: (fd, at, count) => {
      assert.equal(fd, FD);
      calls.push(`receive ${count}`);
      if (receiveFault !== 0) return receiveFault;
      const come = waiting.splice(0, count);
      for (const [i, { text, port }] of come.entries()) {
        const { memory, header, name, nameOctets, datagram, octets } = headerAt(at, i);
        assert.equal(nameOctets, SOCKADDR_OCTETS, "room for any name");
        assert.equal(octets, 65_535, "room for any datagram");
        const written = Buffer.alloc(SOCKADDR_OCTETS);
        const length = writeSocketAddress(written, { address: "192.0.2.1", port }, () => 0);
        written.copy(memory, name, 0, length);
        memory.writeUInt32LE(length, header + 8);
        memory.write(text, datagram, "latin1");
        memory.writeUInt32LE(text.length, header + 56);
      }
      return come.length;
    },
    send: (fd, at, count) => {
      assert.equal(fd, FD);
      calls.push(`send ${count}`);
      for (let i = 0; i < count; i++) {
        const { memory, name, nameOctets, datagram, octets } = headerAt(at, i);
        assert.equal(nameOctets, 16);
        const port = portOf(memory, name);
        if (forbidden.has(port)) return i === 0 ? -EPERM : i;
        sent.push({ text: memory.toString("latin1", datagram, datagram + octets), port });
      }
      return count;
    },
    scopeOf: () => 0,
    openUdp: () => FD,
  };
  const fail = (error: number): void => {
    receiveFault = -error;
  };
  return { libc, waiting, sent, calls, forbidden, fail };
};

const answering: AnswerStep = (octets, peer, out) => {
  assert.equal(peer, "192.0.2.1");
  const text = Buffer.from(octets).toString("latin1");
  return text === "nothing" ? 0 : Buffer.from(out.buffer, out.byteOffset).write(`to ${text}`, "latin1");
};

const draining = (answer: AnswerStep = answering) => {
  const kernel = aKernel();
  const metrics = createMetrics();
  const failed: number[] = [];
  let underWay = 0;
  const receive = createBatches(
    {
      ...{ answer, tally: createTally(metrics), libc: kernel.libc },
      underWay: { begun: () => underWay++, ended: () => underWay-- },
      onFailed: (error) => failed.push(error),
    },
    FD,
  );
  /** Node hands over the one that woke us. */
  const wake = (text = "nothing", port = 999): void =>
    receive(Buffer.from(text), { address: "192.0.2.1", family: "IPv4", port, size: text.length });
  const come = (count: number, from = 0): void => {
    for (let i = from; i < from + count; i++) kernel.waiting.push({ text: `query ${i}`, port: 1_000 + i });
  };
  return { ...kernel, wake, metrics, failed, underWay: () => underWay, come };
};

describe("a socket drained of what waits", () => {
  it("is answered in as few calls as there are batches, each datagram to whom it came from", () => {
    const { wake, come, sent, calls } = draining();
    come(40);
    wake();
    assert.deepEqual(calls, ["receive 32", "send 32", "receive 32", "send 8"]);
    assert.deepEqual(
      sent,
      Array.from({ length: 40 }, (_, i) => ({ text: `to query ${i}`, port: 1_000 + i })),
    );
  });

  it("sends the answer to the one that woke us together with those behind it", () => {
    const { wake, come, sent, calls } = draining();
    come(32);
    wake("first", 53);
    assert.deepEqual(calls, ["receive 32", "send 33", "receive 32"]);
    assert.deepEqual(sent[0], { text: "to first", port: 53 });
  });

  it("leaves for the next turn of the event loop what is more than one may take", async () => {
    const { wake, come, sent, waiting } = draining();
    come(600);
    wake();
    assert.equal(sent.length, 256);
    wake("alone", 53);
    assert.equal(sent.length, 257, "of the same turn only what Node has read");
    await nextTurn();
    wake();
    assert.equal(sent.length, 513);
    assert.equal(waiting.length, 88);
  });

  it("sends nothing where nothing is to be said, and counts who asks from port 0", async () => {
    const { wake, waiting, sent, calls, metrics } = draining();
    waiting.push({ text: "nothing", port: 1 }, { text: "zero", port: 0 }, { text: "sound", port: 2 });
    wake();
    assert.deepEqual(sent, [{ text: "to sound", port: 2 }]);
    assert.equal(await metricValue(metrics, "gtm_dns_dropped_total", { reason: "port-zero" }), 1);
    calls.length = 0;
    waiting.push({ text: "nothing", port: 1 });
    wake();
    assert.deepEqual(calls, ["receive 32"]);
  });

  it("passes over an answer that the kernel does not take, and counts it", async () => {
    const { wake, come, sent, forbidden, metrics } = draining();
    forbidden.add(1_001).add(1_003);
    come(5);
    wake();
    assert.deepEqual(
      sent.map(({ port }) => port),
      [1_000, 1_002, 1_004],
    );
    assert.equal(await metricValue(metrics, "gtm_dns_send_errors_total", { proto: "udp" }), 2);
  });

  it("sends what was looked up to whom it is for, although others came meanwhile", async () => {
    const found = Promise.withResolvers<Uint8Array | null>();
    const { wake, waiting, come, sent, underWay } = draining((octets, peer, out) =>
      Buffer.from(octets).toString("latin1") === "look up" ? found.promise : answering(octets, peer, out),
    );
    waiting.push({ text: "look up", port: 7 });
    wake();
    come(40);
    wake();
    found.resolve(Buffer.from("found"));
    assert.equal(underWay(), 1);
    await until(() => underWay() === 0);
    assert.deepEqual(sent.at(-1), { text: "found", port: 7 });
    assert.equal(sent.length, 41);
  });

  it("says why nothing could be received, and goes on with the next", () => {
    const { wake, come, sent, fail, failed } = draining();
    come(1);
    fail(ENOMEM);
    wake();
    assert.deepEqual(failed, [-ENOMEM]);
    fail(0);
    wake();
    assert.equal(sent.length, 1);
  });

  it("takes a datagram as long as one can be", () => {
    const lengths: number[] = [];
    const { wake, waiting } = draining((octets) => {
      lengths.push(octets.length);
      return 0;
    });
    for (const length of [0, 512, 513, 65_507, 512]) waiting.push({ text: "x".repeat(length), port: 5 });
    wake();
    assert.deepEqual(lengths.slice(1), [0, 512, 513, 65_507, 512]);
  });
});
