/** Laws of labels, for any name, any key, any damage. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeBase32hex, encodeBase32hex } from "#shared/base32hex.ts";
import { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { createLabels, type LabelKeys, tagOf } from "#shared/pin-token.ts";

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const keys: fc.Arbitrary<LabelKeys> = fc
  .tuple(key, fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 3 }), key)
  .map(([identityKey, ids, signing]) => {
    const made = ids.map((id) => ({ id, key: signing.map((octet) => octet ^ id) }));
    return { identityKey, signingKeys: made as unknown as LabelKeys["signingKeys"] };
  });
/** Unix minutes of four octets. */
const instant = fc.integer({ min: 0, max: 0xffff_ffff * 60_000 });

const minted = fc.record({
  keys,
  pool: label,
  region: label,
  tenant: fc.string(),
  name: fc.string(),
  issuedAtMs: instant,
});

describe("base32hex", () => {
  it("reads back whatever it wrote", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => {
        assert.deepEqual(decodeBase32hex(encodeBase32hex(octets)), octets);
      }),
    );
  });
  it("has one spelling for each octet string", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-v]{0,42}$/), (text) => {
        const octets = decodeBase32hex(text);
        if (octets !== null) assert.equal(encodeBase32hex(octets), text);
      }),
    );
  });
});

describe("any token", () => {
  it("reads as what it was minted from", () => {
    fc.assert(
      fc.property(minted, ({ keys, pool, region, tenant, name, issuedAtMs }) => {
        const labels = createLabels(keys);
        const conversation = labels.conversationIdOf(tenant, name);
        const token = labels.mint({
          pool: PoolName.parse(pool),
          region: RegionId.parse(region),
          conversation,
          issuedAtMs,
        });
        assert.deepEqual(labels.read(token), {
          kind: "ours",
          poolTag: tagOf(pool),
          regionTag: tagOf(region),
          conversation,
          issuedAtMs: Math.floor(issuedAtMs / 60_000) * 60_000,
        });
      }),
    );
  });
  it("is never ours with one bit flipped", () => {
    fc.assert(
      fc.property(minted, fc.integer({ min: 0, max: 199 }), (from, bit) => {
        const labels = createLabels(from.keys);
        const conversation = labels.conversationIdOf(from.tenant, from.name);
        const pool = PoolName.parse(from.pool);
        const token = labels.mint({ ...from, pool, region: RegionId.parse(from.region), conversation });
        const octets = decodeBase32hex(token.slice(2)) ?? new Uint8Array();
        const at = bit >> 3;
        octets[at] = (octets[at] ?? 0) ^ (1 << (bit & 7));
        assert.notEqual(labels.read(`p1${encodeBase32hex(octets)}`).kind, "ours");
      }),
    );
  });
});

describe("any string", () => {
  const labels = createLabels({
    identityKey: new Uint8Array(32),
    signingKeys: [{ id: 0, key: new Uint8Array(32).fill(1) }],
  });
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.stringMatching(/^[pP]1[0-9a-vA-V]{40}$/),
    fc.stringMatching(/^p1.{40}$/u),
  );
  it("reads as a conversation, and as nobody's token of ours", () => {
    fc.assert(
      fc.property(text, (any) => {
        const read = labels.read(any);
        assert.ok(ConversationId.safeParse(read.conversation).success);
        assert.notEqual(read.kind, "ours");
      }),
    );
  });
  it("reads alike in any ASCII letter case", () => {
    fc.assert(
      fc.property(text, (any) => {
        const upper = any.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
        const lower = any.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
        assert.deepEqual(labels.read(upper), labels.read(lower));
      }),
    );
  });
});
