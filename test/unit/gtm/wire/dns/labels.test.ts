import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { createLabelConfirm } from "#gtm/wire/dns/label-confirm.ts";
import { createLabelFinder } from "#gtm/wire/dns/label-finder.ts";
import { createLabelAnswers, labelled } from "#gtm/wire/dns/labels.ts";
import { negativeAnswers } from "#gtm/wire/dns/negative.ts";
import { createRender } from "#gtm/wire/dns/render.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aConversation, regionId } from "#test/support/builders.ts";
import { aDnsSetting, CODER, ZONE } from "#test/support/dns-zone.ts";

const setting = (findConversation: (id: unknown) => Promise<Conversation | null> | Conversation | null) => {
  const dns = aDnsSetting({ findConversation });
  const { options } = dns;
  const read: string[] = [];
  const answers = createLabelAnswers({
    ...options,
    find: createLabelFinder({
      ...options,
      steer: createSteer(options.ports, DEFAULT_POLICY),
      onRead: (kind) => read.push(kind),
    }),
    confirm: createLabelConfirm(options.ports),
    nowMs: () => options.ports.world().takenAtMs,
    render: createRender(options.regions, negativeAnswers(ZONE)),
  });
  return { ...dns, answers, read, abc: labelled("abc") };
};

describe("a label looked up", () => {
  it("is looked up once for all who ask meanwhile", async () => {
    const asked: unknown[] = [];
    const found = Promise.withResolvers<null>();
    const { answers } = setting((id) => {
      asked.push(id);
      return found.promise;
    });
    const waits = [answers.lookUp("abc", "192.0.2.0/24"), answers.lookUp("abc", "192.0.2.0/24")];
    found.resolve(null);
    const [first, second] = await Promise.all(waits);
    assert.equal(asked.length, 1);
    assert.equal(first, second);
    assert.deepEqual(first, { kind: "stranger", pool: "chat" });
  });

  it("is not begun while 1 024 others are under way, and is once they are over", async () => {
    const found = Promise.withResolvers<null>();
    const { answers } = setting(() => found.promise);
    const waits = Array.from({ length: 1_024 }, (_, i) => answers.lookUp(`label-${i}`, "192.0.2.0/24"));
    assert.ok(!waits.includes(null));
    assert.equal(answers.lookUp("one-more", "192.0.2.0/24"), null);
    found.resolve(null);
    await Promise.all(waits);
    assert.notEqual(answers.lookUp("one-more", "192.0.2.0/24"), null);
  });

  it("stands for a second of the world's time, and no longer than no region's candidacy changes", async () => {
    const { answers, abc, clock, setRegions, touchWorld } = setting(() => null);
    assert.equal(answers.standing(abc), null);
    const found = await answers.lookUp("abc", "192.0.2.0/24");
    clock.advance(999);
    touchWorld();
    assert.equal(answers.standing(abc), found);
    clock.advance(1);
    touchWorld();
    assert.equal(answers.standing(abc), null);
    await answers.lookUp("abc", "192.0.2.0/24");
    setRegions((region) => region);
    assert.equal(answers.standing(abc), null);
  });

  it("stands for thirty seconds where its conversation stays at home, by a look at the ledger each second", async () => {
    const conversation = aConversation({ home: "virginia", contextTokens: 5_000 });
    let asked = 0;
    const { answers, abc, clock, touchWorld, entries } = setting(() => {
      asked += 1;
      // Another object with the same in it, as the store's word is.
      return { ...conversation };
    });
    const found = await answers.lookUp("abc", "192.0.2.0/24");
    const looks: boolean[] = [];
    asked = 0;
    for (let second = 1; second <= 30; second++) {
      clock.advance(1_000);
      touchWorld();
      looks.push(answers.standing(abc) === found, answers.standing(abc) === found);
    }
    assert.deepEqual(looks, [...Array.from({ length: 58 }, () => true), false, false]);
    assert.deepEqual([asked, entries.length], [29, 1]);
  });

  const changes: readonly { what: string; nowIs: () => Promise<null> | Conversation | null }[] = [
    { what: "has moved", nowIs: () => aConversation({ home: "frankfurt", contextTokens: 5_000 }) },
    {
      what: "speaks to another model",
      nowIs: () => aConversation({ home: "virginia", contextTokens: 5_000, model: CODER }),
    },
    {
      what: "was refused at home",
      nowIs: () => aConversation({ home: "virginia", contextTokens: 5_000, refusedBy: [regionId("virginia")] }),
    },
    { what: "is forgotten", nowIs: () => null },
    { what: "must be asked for in the store", nowIs: () => Promise.resolve(null) },
  ];
  for (const { what, nowIs } of changes) {
    it(`is looked up after a second where its conversation ${what}`, async () => {
      let now: ReturnType<(typeof changes)[number]["nowIs"]> = aConversation({
        home: "virginia",
        contextTokens: 5_000,
      });
      const { answers, abc, clock, touchWorld } = setting(() => now);
      await answers.lookUp("abc", "192.0.2.0/24");
      clock.advance(1_000);
      touchWorld();
      now = nowIs();
      assert.equal(answers.standing(abc), null);
    });
  }

  it("is decided for the model that the ledger knows", async () => {
    const conversation = aConversation({ home: "virginia", contextTokens: 5_000, model: CODER });
    const { answers, entries } = setting(() => conversation);
    await answers.lookUp("abc", "192.0.2.0/24");
    assert.deepEqual([entries[0]?.decision.turn.model, entries[0]?.decision.turn.home], [CODER, "virginia"]);
  });

  it("is a stranger's where the conversation was forgotten between the two look-ups", async () => {
    const conversation = aConversation({ home: "virginia", contextTokens: 5_000 });
    let asked = 0;
    const { answers } = setting(() => (asked++ === 0 ? conversation : null));
    assert.deepEqual(await answers.lookUp("abc", "192.0.2.0/24"), { kind: "stranger", pool: "chat" });
  });

  it("says which kind it read: ours, forged, or a stranger's", async () => {
    const { answers, read, labels, options, clock } = setting(() => null);
    const label = {
      pool: options.defaultPool.name,
      region: options.regions[0]?.id ?? assert.fail(),
      conversation: labels.conversationIdOf("acme", "one"),
      issuedAtMs: clock.epochMs(),
    };
    const ours = labels.mint(label);
    const foreign = createLabels(ephemeralLabelKeys()).mint(label);
    // The same key id with another MAC.
    const forged = ours.slice(0, -1) + (ours.endsWith("0") ? "1" : "0");
    for (const text of [ours, forged, foreign, "abc"]) await answers.lookUp(text, "192.0.2.0/24");
    assert.deepEqual([read[0], read[1], read[3]], ["ours", "forged", "stranger"]);
    assert.ok(
      ["stranger", "forged"].includes(read[2] ?? ""),
      "another process's key: retired, or by chance of the same id",
    );
  });

  it("fails for all who wait and is tried again", async () => {
    let asked = 0;
    const { answers } = setting(() => (asked++ === 0 ? Promise.reject(new Error("a bug")) : null));
    await assert.rejects(answers.lookUp("abc", "192.0.2.0/24") ?? Promise.resolve(), /a bug/);
    assert.deepEqual(await answers.lookUp("abc", "192.0.2.0/24"), { kind: "stranger", pool: "chat" });
  });
});
