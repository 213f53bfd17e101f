/** Rows P5, P6, P74 and P75: what gets no reply, and what is sent to end the process. */
import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { createAnswerer } from "#gtm/wire/dns/answerer.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { createUdpListener } from "#gtm/wire/dns/udp-listener.ts";
import { askUdp, openUdp, queryOctets, readReply, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, answererOptions, startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { FRANKFURT, type Sequence } from "./row.ts";

const silent = (row: string, what: string, octets: Buffer): Sequence => ({
  row,
  what: `${what} gets no reply`,
  run: async () => {
    await using dns = await startDns();
    await using client = await openUdp(dns);
    client.send(octets);
    const first = readReply(await client.ask(queryOctets({ id: 0x7777 })));
    assert.equal(first.packet.id, 0x7777, "the first that comes answers the query that came second");
  },
});

/** A sound query as if from port 0, which no client here can send from. */
const fromPortZero = async (): Promise<void> => {
  const { options, metrics } = aDnsSetting();
  const made: Socket[] = [];
  const listener = createUdpListener(
    {
      ...{ ...options, libc: null, tally: createTally(options.metrics) },
      answer: createAnswerer(answererOptions(options))("udp"),
    },
    (wish) => {
      const socket = createSocket(wish);
      made.push(socket);
      return socket;
    },
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  const octets = queryOctets();
  made[0]?.emit("message", octets, { address: "127.0.0.1", family: "IPv4", port: 0, size: octets.length });
  const reply = await askUdp({ address: "127.0.0.1", port }, { opt: FRANKFURT });
  assert.deepEqual(reply.data, ["192.0.2.10"]);
  assert.equal(await metricValue(metrics, "gtm_dns_dropped_total", { reason: "port-zero" }), 1);
  await listener.close();
};

const malformedFlood = async (): Promise<void> => {
  await using dns = await startDns();
  await using client = await openUdp(dns);
  const sound = queryOctets({ opt: { options: subnetOption(1, 24, [192, 0, 2]) } });
  for (let i = 0; i < 600; i++) {
    const octets = Buffer.from(sound);
    octets[2 + ((i * 31) % (octets.length - 2))] = (i * 89) & 0xff;
    client.send(i % 3 === 0 ? octets.subarray(0, i % octets.length) : octets);
    // Nothing waits in the kernel that could be lost: the next comes when this one is through.
    const id = 0x8000 + i;
    client.send(queryOctets({ id }));
    while ((await client.next()).readUInt16BE(0) !== id);
  }
  assert.deepEqual((await askUdp(dns, sound)).data, ["192.0.2.10"]);
  assert.equal(await metricValue(dns.metrics, "gtm_dns_answer_faults_total"), 0);
};

export const HOSTILE: readonly Sequence[] = [
  silent("P5", "a response", queryOctets({ flags: 0x8000 })),
  silent("P6", "a message of fewer than 12 octets", queryOctets().subarray(0, 11)),
  silent("P6", "a message of no octets at all", Buffer.alloc(0)),
  { row: "P74", what: "a datagram from port 0 is dropped, and the next is answered", run: fromPortZero },
  { row: "P75", what: "after 600 malformed datagrams it answers as before, and has met no bug", run: malformedFlood },
];
