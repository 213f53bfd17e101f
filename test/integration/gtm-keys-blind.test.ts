/** GTMs that know nothing but their keys answer alike: where a signed token points, else by hash, and strangers by cell. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { freePort } from "#test/support/free-port.ts";
import { HOUSE_REGIONS } from "#test/support/house.ts";
import { ADDRESS_OF, startTwins, type Twin, type Twins } from "#test/support/twin-gtms.ts";

const SUBNETS = [
  "192.0.2.0/24",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "100.64.1.0/24",
  "100.64.2.0/24",
  "100.64.3.0/24",
];

const forgedOf = (token: string): string => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");

for (const [what, url] of [
  ["that never heard an agent", async () => "memory:"],
  ["whose store is away", async () => `redis://127.0.0.1:${await freePort()}`],
] as const) {
  describe(`two GTMs ${what}`, () => {
    let twins: Twins;
    let pair: readonly Twin[];
    before(async () => {
      twins = await startTwins(await url());
      pair = [twins.a, twins.b];
    });
    after(() => twins[Symbol.asyncDispose]());

    it("send a conversation where its signed token says, by DNS and by HTTP", async () => {
      for (const { id } of HOUSE_REGIONS) {
        for (const [at, instance] of pair.entries()) {
          // The same name in both regions: it is the token that decides, and no hash.
          const token = instance.minted(`by-token-${at}`, id);
          for (const asked of pair) assert.deepEqual(await asked.addressesOf(`${token}.c`), [ADDRESS_OF.get(id)]);
          const other = instance.minted(`by-http-${id}`, id);
          const { region, verdict } = await instance.turn({ "x-gtm-pin": other });
          assert.deepEqual([region, verdict], [id, "pinned"]);
        }
      }
    });
    it("without a token choose by the conversation's hash among the regions, the same on both", async () => {
      const chosen = new Set<string>();
      for (let i = 0; i < 12; i++) {
        const regions = await Promise.all(pair.map((one) => one.turn({ "x-conversation-id": `by-hash-${i}` })));
        const [a, b] = regions.map(({ region }) => region);
        assert.equal(a, b, `by-hash-${i}`);
        chosen.add(a ?? "");
      }
      assert.deepEqual([...chosen].toSorted(), [...ADDRESS_OF.keys()].toSorted());
    });
    it("answer any other label as the pool's name by the client's cell, with its scope, for 5 s, the same on both", async () => {
      const chosen = new Set<string>();
      for (const subnet of SUBNETS) {
        const [a, b] = await Promise.all(pair.map((one) => one.dig("anything.c", subnet)));
        const pool = await twins.a.dig("chat", subnet);
        assert.deepEqual(a, b, subnet);
        assert.deepEqual([a?.addresses, a?.scope, a?.ttls], [pool.addresses, pool.scope, [5]], subnet);
        assert.match(a?.scope ?? "", /\/24\/(?:[1-9]|1\d|2[0-4])$/);
        chosen.add(a?.addresses.join() ?? "");
      }
      assert.equal(chosen.size, 2, "cells differ, so this was not one answer for all");
    });
    it("treat a token with a wrong MAC as a stranger's, and count it, on both wires", async () => {
      for (const instance of pair) {
        const { gtm } = instance;
        const forged = forgedOf(instance.minted("forged", "us-east"));
        const before = await gtm.counted("gtm_http_pin_tokens_forged_total");
        assert.deepEqual(await instance.addressesOf(`${forged}.c`), await instance.addressesOf("chat"));
        assert.notEqual((await instance.turn({ "x-gtm-pin": forged })).verdict, "pinned");
        await instance.turn({ host: `${forged}.c.llm.test` });
        assert.equal(await gtm.counted("gtm_dns_labels_total", { kind: "forged" }), 1);
        assert.equal((await gtm.counted("gtm_http_pin_tokens_forged_total")) - before, 2);
      }
    });
  });
}
