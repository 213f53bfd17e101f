/** Paging through conversations while others come, go, grow and move: whatever stood still is visited once, in order. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { findConversations } from "#gtm/datalayer/conversation-list.ts";
import { type Conversation, contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import {
  ALL_CONVERSATIONS,
  CONVERSATION_SORTS,
  type ConversationQuery,
  type ConversationSort,
  type FoundConversations,
} from "#gtm/domain/conversation-query.ts";
import { listConversation, unlistConversation } from "#shared/conversation-index.ts";
import { ownerOf, packed } from "#shared/conversation-record.ts";
import { ConversationId, PoolName } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aConversation, type MODEL, regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const REGIONS = ["frankfurt", "paris", "virginia"].map(regionId);
const OWNER = ownerOf("acme", PoolName.parse("chat"));
const idOf = (at: number): ConversationId => ConversationId.parse(at.toString(32).padStart(13, "0"));

type Put = { readonly id: number; readonly region: number; readonly tokens: number; readonly agoSeconds: number };
type Change =
  | ({ readonly kind: "put" } & Put)
  | { readonly kind: "release"; readonly id: number }
  /** The record is gone and the lists have not heard. */
  | { readonly kind: "expire"; readonly id: number };

/** Few sizes, instants and regions, so that many are equal. */
const put = fc.record({ id: fc.nat(60), region: fc.nat(2), tokens: fc.nat(3), agoSeconds: fc.nat(4) });
const change: fc.Arbitrary<Change> = fc.oneof(
  put.map((one) => ({ kind: "put" as const, ...one })),
  fc.record({ kind: fc.constant("release" as const), id: fc.nat(60) }),
  fc.record({ kind: fc.constant("expire" as const), id: fc.nat(60) }),
);

const scene = () => {
  const clock = createManualClock();
  clock.advance(10_000_000);
  const store = createMemoryStore(clock);
  const known = new Map<number, Conversation>();
  const write = async ({ id, region, tokens, agoSeconds }: Put): Promise<void> => {
    const home = REGIONS[region] ?? regionId("paris");
    const lastTurnAtMs = clock.monotonicMs() - agoSeconds * 1_000;
    const conversation: Conversation = {
      ...aConversation({ home, contextTokens: tokens }),
      ...{
        id: idOf(id),
        rev: 1,
        lastTurnAtMs,
        holdings: [{ region: home, replica: null, tokens, atMs: lastTurnAtMs }],
      },
    };
    await store.put(
      conversationKey(idOf(id)),
      packed(conversation, OWNER, 1, clock.monotonicMs()),
      KEYS.conversation.ttlMs,
    );
    const before = known.get(id);
    const lastTurnEpochMs = lastTurnAtMs + clock.epochMs() - clock.monotonicMs();
    await listConversation(store, { id: idOf(id), region: home, lastTurnEpochMs, contextTokens: tokens });
    if (before !== undefined && homeOf(before) !== home) await unlistConversation(store, homeOf(before), idOf(id));
    known.set(id, conversation);
  };
  const apply = async (one: Change): Promise<void> => {
    if (one.kind === "put") return write(one);
    await store.remove(conversationKey(idOf(one.id)));
    const before = known.get(one.id);
    known.delete(one.id);
    if (before !== undefined && one.kind === "release") await unlistConversation(store, homeOf(before), idOf(one.id));
  };
  const page = async (
    query: Partial<ConversationQuery> & { readonly sort: ConversationSort; readonly limit: number },
  ) => {
    const found = await findConversations(
      { store, clock, regions: REGIONS },
      { ...ALL_CONVERSATIONS, region: null, cursor: null, ...query },
    );
    assert.ok(found !== null, "the cursor is its own");
    return found;
  };
  /** All pages. @param between after each, which may change what follows */
  const visit = async (
    query: Parameters<typeof page>[0],
    between: (nth: number) => Promise<void>,
  ): Promise<readonly Conversation[]> => {
    const seen: Conversation[] = [];
    let cursor: string | null = null;
    for (let nth = 0; nth === 0 || cursor !== null; nth++) {
      assert.ok(nth < 500, "the pages come to an end");
      const found: FoundConversations = await page({ ...query, cursor });
      seen.push(...found.items.map(({ conversation }) => conversation));
      cursor = found.nextCursor;
      await between(nth);
    }
    return seen;
  };
  return { known, write, apply, page, visit };
};

const comesFirst: Readonly<Record<ConversationSort, (a: Conversation, b: Conversation) => boolean>> = {
  recent: (a, b) => a.lastTurnAtMs >= b.lastTurnAtMs,
  idle: (a, b) => a.lastTurnAtMs <= b.lastTurnAtMs,
  tokens: (a, b) => contextTokensOf(a) >= contextTokensOf(b),
  region: (a, b) => homeOf(a) < homeOf(b) || (homeOf(a) === homeOf(b) && a.lastTurnAtMs >= b.lastTurnAtMs),
};

describe("pages of a list of conversations that changes", () => {
  for (const sort of CONVERSATION_SORTS) {
    it(`show by ${sort} whatever stood still exactly once, in order`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(put, { maxLength: 60 }),
          fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 20 }),
          fc.integer({ min: 1, max: 7 }),
          fc.nat(2),
          async (puts, changes, limit, minTokens) => {
            const { known, write, apply, visit } = scene();
            for (const one of puts) await write(one);
            const still = new Map([...known].filter(([, one]) => contextTokensOf(one) >= minTokens));
            const seen = await visit({ sort, limit, minTokens }, async (nth) => {
              for (const one of changes[nth] ?? []) {
                await apply(one);
                still.delete(one.id);
              }
            });
            const unmoved = seen.filter(({ id }) => [...still.keys()].some((at) => idOf(at) === id));
            assert.deepEqual(unmoved.map(({ id }) => id).sort(), [...still.keys()].map(idOf).sort());
            for (const [at, one] of unmoved.entries()) {
              const next = unmoved[at + 1];
              assert.ok(next === undefined || comesFirst[sort](one, next), `${one.id} before ${next?.id}`);
            }
          },
        ),
        { numRuns: 60 },
      );
    });
  }
  it("goes past 1 000 conversations of one moment", async () => {
    const { write, visit } = scene();
    for (let id = 0; id < 1_200; id++) await write({ id, region: 0, tokens: 5, agoSeconds: 1 });
    const seen = await visit({ sort: "recent", limit: 500 }, async () => {});
    assert.equal(new Set(seen.map(({ id }) => id)).size, 1_200);
  });
});

describe("a filter that hardly any conversation passes", () => {
  it("looks at 500 a request: the page is short, says so, and goes on", async () => {
    const { write, page } = scene();
    for (let id = 0; id < 1_200; id++) await write({ id, region: id % 3, tokens: 5, agoSeconds: id });
    const model = "another" as typeof MODEL;
    const pages: FoundConversations[] = [];
    for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
      const found: FoundConversations = await page({ sort: "recent", limit: 50, model, cursor });
      pages.push(found);
      cursor = found.nextCursor;
    }
    assert.deepEqual(
      pages.map(({ items, examined }) => [items.length, examined]),
      [
        [0, 500],
        [0, 500],
        [0, 200],
      ],
    );
  });
  it("finds by size without looking at what is smaller", async () => {
    const { write, page } = scene();
    for (let id = 0; id < 500; id++) await write({ id, region: id % 3, tokens: id, agoSeconds: 1 });
    const found = await page({ sort: "tokens", limit: 50, minTokens: 490 });
    assert.deepEqual(
      [found.items.map(({ conversation }) => contextTokensOf(conversation)), found.examined, found.nextCursor],
      [[499, 498, 497, 496, 495, 494, 493, 492, 491, 490], 10, null],
    );
  });
});
