/** Rows P64 and P65: networks that ask too much. */
import assert from "node:assert/strict";
import { askTcp, openUdp, queryOctets, readReply } from "#test/support/dns-client.ts";
import { type RunningDns, startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { CLIENT_COOKIE, cookieOf, cookieOption } from "./cookies.ts";
import { countsOf, FORMERR, FRANKFURT, flagsOf, isTruncated, type Sequence } from "./row.ts";

const rateLimit = { perPrefixQps: 5, slip: 2, exempt: [] };
const limitedOf = (dns: RunningDns, action: string) =>
  metricValue(dns.metrics, "gtm_dns_rate_limited_total", { action });

export const RATE_LIMITS: readonly Sequence[] = [
  {
    row: "P65",
    what: "a network over its rate gets TC alone for every second query, and silence for the others; over TCP it is answered",
    run: async () => {
      const dns = await startDns({ rateLimit });
      await using client = await openUdp(dns);
      for (let id = 0; id < 5; id++) {
        assert.deepEqual(readReply(await client.ask(queryOctets({ id, opt: FRANKFURT }))).data, ["192.0.2.10"]);
      }
      for (let id = 10; id < 16; id += 2) {
        client.send(queryOctets({ id, opt: {} }));
        const slipped = readReply(await client.ask(queryOctets({ id: id + 1, opt: {} })));
        isTruncated(slipped);
        assert.deepEqual([slipped.packet.id, flagsOf(slipped).aa], [id + 1, 0]);
        assert.ok(slipped.octets.length <= queryOctets({ opt: {} }).length, "no longer than the query");
      }
      assert.deepEqual((await askTcp(dns, { opt: FRANKFURT })).data, ["192.0.2.10"]);
      await dns[Symbol.asyncDispose]();
      assert.deepEqual([await limitedOf(dns, "slip"), await limitedOf(dns, "drop")], [3, 3]);
      const told = dns.log.lines.filter(({ event }) => event === "dns.rate-limited");
      assert.deepEqual(
        told.map(({ level }) => level),
        ["warn"],
      );
      assert.match(JSON.stringify(told), /"slipped":3,"dropped":3,"lastSubnet":"127\.0\.0\.0\/24"/);
    },
  },
  {
    row: "P64",
    what: "it is answered as ever where it shows a valid cookie, which it learns from what slips",
    run: async () => {
      await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
      await using client = await openUdp(dns);
      for (let id = 0; id < 5; id++) await client.ask(queryOctets({ id }));
      const asks = (options: Buffer) => client.ask(queryOctets({ opt: { options } })).then(readReply);
      const slipped = await asks(cookieOption(CLIENT_COOKIE));
      isTruncated(slipped);
      const cookie = cookieOf(slipped);
      for (let i = 0; i < 20; i++) assert.equal(countsOf(await asks(cookieOption(cookie)))[1], 1);
      const forged = Buffer.from(cookie);
      forged[23] = (forged[23] ?? 0) ^ 1;
      isTruncated(await asks(cookieOption(forged)));
    },
  },
  {
    row: "P65",
    what: "it is told its mistakes rather than TC, no longer than the query",
    run: async () => {
      await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
      await using client = await openUdp(dns);
      for (let id = 0; id < 5; id++) await client.ask(queryOctets({ id }));
      FORMERR(readReply(await client.ask(queryOctets({ counts: [2, 0, 0, 0] }))));
    },
  },
  {
    row: "P65",
    what: "it is answered again after a while",
    run: async () => {
      await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
      await using client = await openUdp(dns);
      const ask = async (): Promise<number> => flagsOf(readReply(await client.ask(queryOctets()))).tc;
      while ((await ask()) === 0);
      dns.clock.advance(400);
      let answers = 0;
      // The server looks at its clock now and then; until it does, queries slip.
      while (answers === 0) answers += 1 - (await ask());
      assert.equal(answers, 1);
    },
  },
];
