import assert from "node:assert/strict";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { describe, it } from "node:test";
import type { AnswerStep } from "#gtm/wire/dns/answer.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/dns/limit.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { createUdpListener } from "#gtm/wire/dns/udp-listener.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openUdp } from "#test/support/dns-client.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const echo: AnswerStep = (octets, _peer, out) => {
  out.set(octets);
  return octets.length;
};

/** A listener whose socket the test can hand datagrams that no client can send. */
const listening = async (answer: AnswerStep = echo, udpUnsentAnswers = DEFAULT_LIMITS.udpUnsentAnswers) => {
  const metrics = createMetrics();
  const log = recordingLog();
  const made: Socket[] = [];
  const listener = createUdpListener(
    {
      answer,
      tally: createTally(metrics),
      log,
      isShared: false,
      libc: null,
      limits: { ...DEFAULT_LIMITS, udpUnsentAnswers },
    },
    (options) => {
      const socket = createSocket(options);
      made.push(socket);
      return socket;
    },
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  const [socket] = made;
  assert.ok(socket !== undefined);
  const come = (from: Partial<RemoteInfo>): void => {
    socket.emit("message", Buffer.from("a query"), { address: "127.0.0.1", family: "IPv4", port: 9, size: 7, ...from });
  };
  const lives = async (): Promise<void> => {
    await using client = await openUdp({ address: "127.0.0.1", port });
    assert.equal((await client.ask(Buffer.from("alive"))).toString(), "alive");
  };
  const dropped = (reason: string) => metricValue(metrics, "gtm_dns_dropped_total", { reason });
  return { listener, socket, port, come, lives, dropped, metrics, log };
};

describe("a UDP socket of the server", () => {
  it("counts an answer that cannot be sent and lives", async () => {
    const { come, lives, metrics, listener } = await listening();
    const failed = () => metricValue(metrics, "gtm_dns_send_errors_total", { proto: "udp" });
    // The kernel refuses broadcasts that nobody asked it to allow; Node refuses what is no address.
    come({ address: "255.255.255.255" });
    await until(async () => (await failed()) === 1);
    come({ port: 70_000 });
    await until(async () => (await failed()) === 2);
    await lives();
    await listener.close();
  });

  it("counts and logs an error of the socket itself and lives", async () => {
    const { socket, lives, metrics, log, listener } = await listening();
    socket.emit("error", new Error("recvmsg: bad luck"));
    assert.equal(await metricValue(metrics, "gtm_dns_send_errors_total", { proto: "udp" }), 1);
    assert.deepEqual(
      log.lines.map(({ level, event }) => [level, event]),
      [["warn", "dns.socket-error"]],
    );
    await lives();
    await listener.close();
  });

  it("drops queries while more answers than the most wait for the kernel, and takes them again afterwards", async () => {
    const { come, lives, dropped, listener } = await listening(echo, 2);
    // The kernel's word comes in a later turn of the event loop, even where it took the answer at once.
    for (let i = 0; i < 5; i++) come({});
    assert.equal(await dropped("overload"), 3);
    await lives();
    await listener.close();
  });

  it("sends the answers of a turn of the event loop after all of its queries were answered", async () => {
    const happened: string[] = [];
    const { come, socket, listener } = await listening((octets, peer, out) => {
      happened.push(`answer ${peer}`);
      return echo(octets, peer, out);
    });
    const { send } = socket;
    socket.send = ((...sent: Parameters<typeof send>) => {
      happened.push(`send ${sent[2]}`);
      return Reflect.apply(send, socket, sent);
    }) as typeof send;
    come({ address: "127.0.0.1" });
    come({ address: "127.0.0.2" });
    await until(() => happened.length === 4);
    assert.deepEqual(happened, ["answer 127.0.0.1", "answer 127.0.0.2", "send 127.0.0.1", "send 127.0.0.2"]);
    await listener.close();
  });

  it("sends what is under way before it closes, and takes nothing meanwhile", async () => {
    const coming = Promise.withResolvers<Uint8Array | null>();
    let asked = 0;
    const { listener, port, dropped, come } = await listening(() => {
      asked += 1;
      return coming.promise;
    });
    await using client = await openUdp({ address: "127.0.0.1", port });
    const answer = client.ask(Buffer.from("slow"));
    await until(() => asked === 1);
    const closing = listener.close();
    come({});
    assert.equal(await dropped("stopping"), 1);
    coming.resolve(Buffer.from("at last"));
    assert.equal((await answer).toString(), "at last");
    await closing;
  });
});
