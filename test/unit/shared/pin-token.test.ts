import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeBase32hex, encodeBase32hex } from "#shared/base32hex.ts";
import { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { createLabels, ephemeralLabelKeys, type LabelKeys, tagOf } from "#shared/pin-token.ts";

const keyOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const identityKey = keyOf(1);
const keys: LabelKeys = { identityKey, signingKeys: [{ id: 7, key: keyOf(7) }] };
const labels = createLabels(keys);

const pool = PoolName.parse("chat");
const region = RegionId.parse("eu-central");
const conversation = labels.conversationIdOf("acme", "thread 1");
const issuedAtMs = Date.UTC(2026, 10, 30, 4, 2, 11);
const token = labels.mint({ pool, region, conversation, issuedAtMs });

describe("a token that we minted", () => {
  it("is a DNS label of 42 characters", () => {
    assert.match(token, /^p1[0-9a-v]{40}$/);
  });
  it("says pool, region, conversation, and when to the minute", () => {
    assert.deepEqual(labels.read(token), {
      kind: "ours",
      poolTag: tagOf("chat"),
      regionTag: tagOf("eu-central"),
      conversation,
      issuedAtMs: Date.UTC(2026, 10, 30, 4, 2),
    });
  });
  it("stays what it is whichever letters a resolver makes upper case", () => {
    assert.deepEqual(labels.read(token.toUpperCase()), labels.read(token));
    const mixed = [...token].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter)).join("");
    assert.deepEqual(labels.read(mixed), labels.read(token));
  });
  it("is laid out as it was written down", () => {
    const octets = Buffer.from(decodeBase32hex(token.slice(2)) ?? []);
    assert.equal(octets.length, 25);
    assert.equal(octets.readUInt8(0), 7);
    assert.equal(octets.readUInt16BE(1), tagOf("chat"));
    assert.equal(octets.readUInt16BE(3), tagOf("eu-central"));
    assert.equal(encodeBase32hex(octets.subarray(5, 13)), conversation);
    assert.equal(octets.readUInt32BE(13), Math.floor(issuedAtMs / 60_000));
  });
  it("is the same today as when this was written", () => {
    // Labels outlive processes and versions: a change here breaks everybody's base URLs.
    assert.equal(conversation, "06immjuapd87a");
    assert.equal(token, "p10sou08cl06immjuapd87a0e8nv97fdap5sduk9pu");
  });
});

describe("an altered token", () => {
  const octets = Buffer.from(decodeBase32hex(token.slice(2)) ?? []);
  const withOctet = (at: number, change: (octet: number) => number): string => {
    const altered = Buffer.from(octets);
    altered.writeUInt8(change(altered.readUInt8(at)), at);
    return `p1${encodeBase32hex(altered)}`;
  };
  it("is forged when any bit behind the key's id is flipped, and then a stranger's by identity", () => {
    for (let at = 1; at < 25; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const text = withOctet(at, (octet) => octet ^ (1 << bit));
        assert.deepEqual(labels.read(text), { kind: "forged", conversation: labels.conversationIdOf("label", text) });
      }
    }
  });
  it("is not ours under the id of another of our keys", () => {
    const rotated = createLabels({ identityKey, signingKeys: [{ id: 8, key: keyOf(8) }, ...keys.signingKeys] });
    assert.equal(rotated.read(token).kind, "ours");
    assert.equal(rotated.read(withOctet(0, () => 8)).kind, "forged");
  });
  it("is not ours under a version that does not exist", () => {
    assert.equal(labels.read(`p2${token.slice(2)}`).kind, "stranger");
  });
});

describe("rotating signing keys", () => {
  const rotated = createLabels({
    identityKey,
    signingKeys: [
      { id: 8, key: keyOf(8) },
      { id: 7, key: keyOf(7) },
    ],
  });
  it("signs with the first and reads with all", () => {
    const fresh = rotated.mint({ pool, region, conversation, issuedAtMs });
    assert.notEqual(fresh, token);
    assert.equal(rotated.read(fresh).kind, "ours");
    assert.equal(rotated.read(token).kind, "ours");
    assert.equal(labels.read(fresh).kind, "stranger");
  });
  it("voids the home that a retired key's label names, and keeps its conversation", () => {
    const later = createLabels({ identityKey, signingKeys: [{ id: 8, key: keyOf(8) }] });
    assert.deepEqual(later.read(token), { kind: "stranger", conversation });
  });
});

describe("a stranger's label", () => {
  it("is a conversation of its own, the same in any letter case", () => {
    const read = labels.read("My-Thread");
    assert.deepEqual(read, { kind: "stranger", conversation: labels.conversationIdOf("label", "my-thread") });
    assert.deepEqual(labels.read("MY-THREAD"), read);
    assert.notDeepEqual(labels.read("my-thread2"), read);
  });
  for (const text of [
    "",
    "p1",
    "p",
    token.slice(0, -1),
    `${token}0`,
    `p1${"w".repeat(40)}`,
    `p1${" ".repeat(40)}`,
    "\u0000",
    "ü",
    "😀",
  ]) {
    it(`may be ${JSON.stringify(text)}`, () => {
      const read = labels.read(text);
      assert.equal(read.kind, "stranger");
      assert.ok(ConversationId.safeParse(read.conversation).success);
    });
  }
});

describe("a conversation's identity", () => {
  it("keeps tenants and names apart", () => {
    const pairs = [
      ["a", "b"],
      ["", "ab"],
      ["ab", ""],
      ["a", "B"],
      ["1:a", "b"],
      ["a:b", ""],
    ] as const;
    const ids = pairs.map(([tenant, name]) => labels.conversationIdOf(tenant, name));
    assert.equal(new Set(ids).size, pairs.length);
    for (const id of ids) assert.ok(ConversationId.safeParse(id).success, id);
  });
  it("depends on the identity key alone", () => {
    const same = createLabels({ identityKey, signingKeys: [{ id: 9, key: keyOf(9) }] });
    const other = createLabels({ ...keys, identityKey: keyOf(2) });
    assert.equal(same.conversationIdOf("acme", "thread 1"), conversation);
    assert.notEqual(other.conversationIdOf("acme", "thread 1"), conversation);
  });
});

describe("keys", () => {
  it("made in memory work, differ each time, and know nothing of earlier ones", () => {
    const [one, other] = [createLabels(ephemeralLabelKeys()), createLabels(ephemeralLabelKeys())];
    const minted = one.mint({ pool, region, conversation, issuedAtMs });
    assert.equal(one.read(minted).kind, "ours");
    assert.notEqual(other.read(minted).kind, "ours");
  });
  const wrong: readonly { readonly when: string; readonly keys: LabelKeys; readonly says: RegExp }[] = [
    {
      when: "an identity key is short",
      keys: { ...keys, identityKey: new Uint8Array(15) },
      says: /identity key.*found 15/,
    },
    {
      when: "a signing key is short",
      keys: { identityKey, signingKeys: [{ id: 1, key: new Uint8Array(0) }] },
      says: /signing key.*found 0/,
    },
    {
      when: "an id is beyond one octet",
      keys: { identityKey, signingKeys: [{ id: 256, key: keyOf(1) }] },
      says: /found 256/,
    },
    {
      when: "two keys share an id",
      keys: {
        identityKey,
        signingKeys: [
          { id: 1, key: keyOf(1) },
          { id: 1, key: keyOf(2) },
        ],
      },
      says: /distinct ids.*found 1/,
    },
  ];
  for (const { when, keys: bad, says } of wrong) {
    it(`are refused when ${when}`, () => {
      assert.throws(() => createLabels(bad), { code: "GTM_CONFIG_INVALID", message: says });
    });
  }
});

describe("a tag", () => {
  it("is the first two octets of the id's SHA-256", () => {
    // printf chat | sha256sum
    assert.equal(tagOf("chat"), 0x31e0);
  });
  it("stays what it is after more ids than are remembered", () => {
    const tags = Array.from({ length: 10_001 }, (_, at) => tagOf(`tenant-${at}`));
    assert.equal(tagOf("chat"), 0x31e0);
    assert.deepEqual(
      tags.map((_, at) => tagOf(`tenant-${at}`)),
      tags,
    );
  });
});
