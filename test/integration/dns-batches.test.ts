/** Many datagrams at once, through the system's own calls where it has them: Linux on x64 or arm64 with koffi, as the tests run. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, it } from "node:test";
import type { AnswerStep } from "#gtm/wire/dns/answer.ts";
import { type Libc, loadLibc } from "#gtm/wire/dns/libc.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/dns/limit.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { createUdpListener } from "#gtm/wire/dns/udp-listener.ts";
import { createMetrics } from "#shared/metrics.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const libcHere = (): Libc => {
  const libc = loadLibc((why) => assert.fail(why));
  assert.ok(libc !== null);
  return libc;
};

const listenerOf = (answer: AnswerStep) => {
  const log = recordingLog();
  const metrics = createMetrics();
  const libc = libcHere();
  let batches = 0;
  const counted: Libc = {
    ...libc,
    send: (fd, at, count) => {
      if (count > 1) batches += 1;
      return libc.send(fd, at, count);
    },
  };
  const tally = createTally(metrics);
  const options = { answer, tally, log, limits: DEFAULT_LIMITS, isShared: false, libc: counted };
  return { listener: createUdpListener(options), log, batches: () => batches };
};

/** "7" is answered "7 from 127.0.0.1"; every tenth only in a later turn of the event loop. */
const slowSometimes: AnswerStep = (octets, peer, out) => {
  const text = Buffer.from(octets).toString();
  const reply = Buffer.from(`${text} from ${peer}`);
  if (text.endsWith("0")) return new Promise((resolve) => setImmediate(resolve, reply));
  out.set(reply);
  return reply.length;
};

for (const [family, address, peer] of [
  ["udp4", "127.0.0.1", "127.0.0.1"],
  ["udp6", "::1", /^(?:::1|0:0:0:0:0:0:0:1)$/],
] as const) {
  describe(`datagrams over ${family}`, () => {
    it("are answered in batches, each its own answer", async () => {
      const { listener, batches, log } = listenerOf(slowSometimes);
      const port = await listener.open({ address, port: 0 });
      const client = createSocket({ type: family, recvBufferSize: 4_194_304 });
      client.bind(0, address);
      await once(client, "listening");
      const answers = new Set<string>();
      client.on("message", (message) => {
        const [query = "", from = ""] = message.toString().split(" from ");
        assert.match(from, typeof peer === "string" ? new RegExp(`^${peer}$`) : peer);
        answers.add(query);
      });
      // The process that asks answers, too: all are in the kernel's queue before the first is read.
      for (let i = 0; i < 500; i++) client.send(`${i}`, port, address);
      await until(() => answers.size === 500, "500 answers");
      assert.ok(batches() > 0);
      assert.deepEqual(log.lines, []);
      client.close();
      await listener.close();
    });
  });
}

describe("sockets opened through libc", () => {
  it("say in the system's word why they cannot be had", async () => {
    const first = listenerOf(slowSometimes);
    const port = await first.listener.open({ address: "127.0.0.1", port: 0 });
    const open = (address: string, at: number) => listenerOf(slowSometimes).listener.open({ address, port: at });
    await assert.rejects(open("127.0.0.1", port), { message: `bind EADDRINUSE 127.0.0.1:${port}` });
    await assert.rejects(open("192.0.2.1", 0), { message: "bind EADDRNOTAVAIL 192.0.2.1:0" });
    await assert.rejects(open("localhost", 0), { message: "bind EINVAL localhost:0" });
    await first.listener.close();
    // What was closed can be had again.
    const again = listenerOf(slowSometimes);
    assert.equal(await again.listener.open({ address: "127.0.0.1", port }), port);
    await again.listener.close();
  });

  it("leave IPv4 to a socket of its own on the same port", async () => {
    const [six, four] = [listenerOf(slowSometimes), listenerOf(slowSometimes)];
    const port = await six.listener.open({ address: "::", port: 0 });
    assert.equal(await four.listener.open({ address: "0.0.0.0", port }), port);
    await six.listener.close();
    await four.listener.close();
  });
});
