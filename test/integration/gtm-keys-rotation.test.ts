/** The signing key changed in its steps on two GTMs, one after the other, while requests run on both. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ADDRESS_OF, startTwins, type Twin, type Twins } from "#test/support/twin-gtms.ts";
import { until } from "#test/support/until.ts";

describe("a change of the signing key while requests run", () => {
  let twins: Twins;
  let a: Twin;
  let b: Twin;
  before(async () => {
    twins = await startTwins("memory:");
    ({ a, b } = twins);
  });
  after(() => twins[Symbol.asyncDispose]());

  const strangers = async (): Promise<readonly number[]> =>
    Promise.all(
      [a, b].flatMap(({ gtm }) => ["stranger", "forged"].map((kind) => gtm.counted("gtm_dns_labels_total", { kind }))),
    );
  const hasTaken = async ({ gtm }: Twin, times: number): Promise<void> =>
    until(async () => (await gtm.counted("gtm_key_reloads_total", { outcome: "taken" })) === times, "the new keys");

  it("leaves every label of either GTM ours on the other, in every step, and ends in nothing but a home that is not believed", async () => {
    let rounds = 0;
    let isOver = false;
    /** What one mints, the other reads, by DNS and by HTTP; and the first label of all is read by both. */
    const traffic = async (first: string, home: string): Promise<void> => {
      for (; !isOver; rounds++) {
        const [from, to] = rounds % 2 === 0 ? [a, b] : [b, a];
        const made = await from.turn({ "x-conversation-id": `turn-${rounds}` });
        assert.deepEqual(await to.addressesOf(`${made.pin}.c`), [ADDRESS_OF.get(made.region)]);
        const next = await to.turn({ "x-gtm-pin": made.pin });
        assert.deepEqual([next.region, next.verdict], [made.region, "pinned"]);
        for (const one of [a, b]) assert.deepEqual(await one.addressesOf(`${first}.c`), [home]);
      }
    };
    const whileItRuns = async (): Promise<void> => {
      const from = rounds;
      await until(() => rounds >= from + 4, "four rounds of traffic");
    };
    const [cell] = await b.addressesOf("chat");
    // A home that the client's cell would not choose, so that it shows when it is not believed any more.
    let name = "";
    let first = { region: "", pin: "", verdict: "" };
    for (let i = 0; name === "" || ADDRESS_OF.get(first.region) === cell; i++) {
      name = `first-${i}`;
      first = await a.turn({ "x-conversation-id": name });
    }
    const home = ADDRESS_OF.get(first.region) ?? "";
    const running = traffic(first.pin, home);
    const failed = running.then(() => assert.ok(isOver));
    const step = async (work: () => Promise<void>): Promise<void> => {
      await Promise.race([work(), failed]);
    };

    try {
      await step(whileItRuns);
      await twins.keys("rotate", "signing");
      a.copyKeys();
      // Nobody tells A: it looks by itself.
      await step(() => hasTaken(a, 1));
      b.copyKeys();
      b.gtm.signal("SIGHUP");
      await step(() => hasTaken(b, 1));
      await step(whileItRuns);
      await twins.keys("rotate", "signing", "--activate");
      a.copyKeys();
      a.gtm.signal("SIGHUP");
      await step(() => hasTaken(a, 2));
      // A signs with the new key, B still with the old one.
      await step(whileItRuns);
      b.copyKeys();
      b.gtm.signal("SIGHUP");
      await step(() => hasTaken(b, 2));
      await step(whileItRuns);
    } finally {
      isOver = true;
    }
    await running;
    assert.deepEqual(await strangers(), [0, 0, 0, 0]);

    await twins.keys("drop", "signing");
    for (const one of [a, b]) {
      one.copyKeys();
      one.gtm.signal("SIGHUP");
      await hasTaken(one, 3);
    }
    const labels = a.labels();
    const conversation = labels.conversationIdOf("default", name);
    assert.deepEqual(labels.read(first.pin), { kind: "stranger", conversation });
    // A finds the conversation in its ledger by the same label; B has nothing but a word that it does not believe any more.
    for (const [one, address] of [
      [a, home],
      [b, cell],
    ] as const) {
      await until(async () => {
        await one.addressesOf(`${first.pin}.c`);
        return (await one.gtm.counted("gtm_dns_labels_total", { kind: "stranger" })) > 0;
      }, "the label being looked up again");
      assert.deepEqual(await one.addressesOf(`${first.pin}.c`), [address]);
    }
  });

  it("to what is no key is refused, and the GTM goes on with the keys it has", async () => {
    const made = await a.turn({ "x-conversation-id": "after" });
    writeFileSync(join(b.folder, "signing.keys"), "7 current\n");
    b.gtm.signal("SIGHUP");
    await until(async () => (await b.gtm.counted("gtm_key_reloads_total", { outcome: "refused" })) >= 1);
    assert.deepEqual(await b.addressesOf(`${made.pin}.c`), [ADDRESS_OF.get(made.region)]);
  });
});
