/** Which regions hold a conversation: a bounded cache before the store, written behind the decisions, usable while the store is away. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn, keptAt } from "#gtm/domain/conversation-ledger.ts";
import {
  ALL_CONVERSATIONS,
  type ConversationQuery,
  type FoundConversations,
  type OwnedConversation,
} from "#gtm/domain/conversation-query.ts";
import { createLiveLedger } from "#gtm/domain/live-tokens.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { unlistConversation } from "#shared/conversation-index.ts";
import { ownerOf } from "#shared/conversation-record.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createConversationCache, type KnownConversation } from "./conversation-cache.ts";
import { findConversations } from "./conversation-list.ts";
import { createConversationListener } from "./conversation-listener.ts";
import { createConversationLookup } from "./conversation-lookup.ts";
import { createConversationMove, type MoveConversation } from "./conversation-move.ts";
import { createConversationNews } from "./conversation-news.ts";
import { createConversationReader } from "./conversation-reader.ts";
import { createConversationRefusals } from "./conversation-refusals.ts";
import { noteReleased } from "./conversation-released.ts";
import { createConversationReoffer } from "./conversation-reoffer.ts";
import { sweepHeld, sweepSizes } from "./conversation-sweep.ts";
import { createConversationWriter } from "./conversation-writer.ts";
import type { Degradations } from "./degradations.ts";
import { servedTurnOf } from "./served-turn.ts";
import type { StoreFailures } from "./store-failures.ts";

export type ConversationStoreOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  /** Both read anew each time: the configuration may change. */
  readonly regions: readonly RegionId[];
  readonly policy: { readonly pinMs: number };
  readonly degradations: Pick<Degradations, "set">;
  /** 0 to 1; spreads the replay when the store is back. */
  readonly random: () => number;
};

export type ConversationStore = Part & {
  /**
   * What the ledger knows, up to an hour back; whether that is a pin (15 minutes, sliding) is for `turnOf` to say, which
   * reads `lastTurnAtMs`: what is held counts as cost for longer than it pins.
   *
   * Cached ones are returned at once and looked at again behind the answer after 2 s. Where another GTM has changed one, or
   * may have without our hearing of it, the store is asked first, and what is cached is the answer when it is slow.
   *
   * @param deadlineMs how long the store may take; later, and while it is away, the answer is null, counted and warned of
   */
  readonly find: (id: ConversationId | null, deadlineMs: number) => Promise<Conversation | null> | Conversation | null;
  /** A decision was made: where it sends a turn of a conversation, the ledger follows. Returns at once; never throws. */
  readonly commit: (entry: Entry) => void;
  /**
   * Those at home in one region, or in any (null), latest turn first. A cursor that is none of ours begins anew.
   *
   * @throws {OperationalError} GTM_STORE_UNREACHABLE, as what follows
   */
  readonly list: (query: {
    readonly region: RegionId | null;
    readonly limit: number;
    readonly cursor: string | null;
  }) => Promise<{ readonly items: readonly Conversation[]; readonly nextCursor: string | null }>;
  /** @returns null: the cursor is of another order, or none of ours */
  readonly search: (query: ConversationQuery) => Promise<FoundConversations | null>;
  readonly get: (id: ConversationId) => Promise<Conversation | null>;
  readonly owned: (id: ConversationId) => Promise<OwnedConversation | null>;
  /** Forgets a conversation, here and on every GTM, so that its next turn is placed anew. @returns whether there was one */
  readonly release: (id: ConversationId) => Promise<boolean>;
  /** Its next turn goes there, once. */
  readonly move: MoveConversation;
  /** The store was wiped: what is pinned is offered to it again, behind everything else. Returns at once. */
  readonly reoffer: () => void;
  /** What this instance's conversations keep alive in the regions' caches. */
  readonly live: () => readonly LiveTokens[];
};

const TTL_MS = KEYS.conversation.ttlMs;
/** The stated window in which two GTMs may differ. */
const TRUSTED_FOR_MS = 2_000;
const SWEEP_EVERY_MS = 60_000;
const COUNT_EVERY_MS = 2_000;

export const createConversationStore = (options: ConversationStoreOptions): ConversationStore => {
  const { store, clock, metrics, failures } = options;
  const cache = createConversationCache();
  const queue = createConversationWriter({ ...options, cache });
  const refusals = createConversationRefusals({ store, clock, metrics, failures });
  const onReleased = (id: ConversationId): void => forget(id);
  const live = createLiveLedger({
    get pinMs() {
      return options.policy.pinMs;
    },
  });
  let counted: readonly RegionId[] = [];
  const read = createConversationReader({
    ...{ store, clock, metrics, cache, queue, refusals, onReleased },
    onRead: live.hear,
  });
  const lookup = createConversationLookup({ store, clock, metrics, failures, read });
  const move = createConversationMove({
    ...{ store, clock, read },
    // A turn that waits to be written goes on top of it.
    onMoved: (known) => {
      cache.set(known.conversation.id, known);
      live.hear(known.conversation);
    },
  });
  const timers: NodeJS.Timeout[] = [];
  /** How far the lists by size were gone through, a score a region. */
  const sweptTo = new Map<RegionId, number>();
  const conversations = metrics.gauge({
    name: "gtm_conversations",
    help: "Conversations that this instance served within the pin's time, by the region of their last turn.",
    labels: ["region"],
  });
  const reoffered = metrics.counter({
    name: "gtm_pins_reoffered_total",
    help: "Pins that were offered again to a store that had been wiped.",
  });

  const news = createConversationNews({ cache, live, read: lookup.refresh, readRefusal: refusals.read });
  const reoffer = createConversationReoffer({
    ...{ cache, queue, isUp: store.isUp, random: options.random },
    sinceMs: () => clock.monotonicMs() - options.policy.pinMs,
    onOffered: (count) => reoffered.inc({}, count),
  });
  const forget = (id: ConversationId): void => {
    cache.delete(id);
    queue.remove(id);
    live.forget(id);
  };
  const listener = createConversationListener(options, {
    onChange: (id, rev) => (rev === 0 ? forget(id) : news.changed(id, rev)),
    onRefused: news.refused,
  });
  const isDoubtful = ({ isOutdated, checkedAtMs }: KnownConversation): boolean =>
    store.isUp() && (isOutdated || listener.mayHaveMissed(checkedAtMs));
  const withRefusals = (conversation: Conversation | null): Conversation | null =>
    conversation === null ? null : refusals.appliedTo(conversation);
  const sweep = async (): Promise<void> => {
    try {
      for (const region of options.regions) {
        await sweepHeld({ store, clock }, region);
        sweptTo.set(region, await sweepSizes({ store, clock }, region, sweptTo.get(region) ?? 0));
      }
    } catch (cause) {
      failures("conversation.sweep", cause);
    }
  };
  const count = (): void => {
    const byRegion = live.conversations(clock.monotonicMs());
    for (const region of counted) if (!options.regions.includes(region)) conversations.remove({ region });
    counted = options.regions;
    for (const region of counted) conversations.set(byRegion.get(region) ?? 0, { region });
  };

  return {
    name: "conversations",
    find: (id, deadlineMs) => {
      if (id === null) return null;
      const known = cache.get(id);
      const nowMs = clock.monotonicMs();
      const kept = known === undefined ? null : keptAt(known.conversation, nowMs, TTL_MS);
      if (known === undefined || kept === null) return lookup.ask(id, deadlineMs, null).then(withRefusals);
      if (isDoubtful(known)) return lookup.ask(id, deadlineMs, kept).then(withRefusals);
      lookup.countCached();
      if (nowMs - known.checkedAtMs >= TRUSTED_FOR_MS) void lookup.refresh(id);
      return withRefusals(kept);
    },
    commit: (entry) => {
      const served = servedTurnOf(entry);
      if (served === null) return;
      const { query, decision } = entry;
      const before = cache.get(served.id) ?? null;
      const wasLate = lookup.wasLate(served.id) && before === null;
      const next: KnownConversation = {
        conversation: afterTurn(before?.conversation ?? decision.turn.conversation, served, TTL_MS),
        owner: before?.owner ?? ownerOf(query.tenant, query.pool.name),
        checkedAtMs: before?.checkedAtMs ?? served.atMs,
        isOutdated: before?.isOutdated ?? false,
        listedIn: before?.listedIn ?? null,
        ...(wasLate || before?.isUnknowing === true ? { isUnknowing: true } : {}),
        ...(before?.isOffer === true ? { isOffer: true } : {}),
      };
      cache.set(served.id, next);
      const { turns } = next.conversation;
      live.commit({ ...served, turns, nextTurnFraction: decision.turn.nextTurnFraction });
      queue.add(served.id, next);
    },
    list: async (query) => {
      const parts = { store, clock, regions: options.regions };
      const wish = { ...ALL_CONVERSATIONS, ...query };
      const found =
        (await findConversations(parts, wish)) ?? (await findConversations(parts, { ...wish, cursor: null }));
      const items = found?.items.map(({ conversation }) => conversation) ?? [];
      return { items, nextCursor: found?.nextCursor ?? null };
    },
    search: (query) => findConversations({ store, clock, regions: options.regions }, query),
    get: async (id) => (await read(id))?.conversation ?? null,
    owned: read,
    release: async (id) => {
      const known = await read(id);
      forget(id);
      if (known === null) return false;
      await noteReleased(store, id);
      await store.remove(conversationKey(id));
      await announceChange(store, conversationKey(id), 0);
      const listedIn = new Set(known.conversation.holdings.map(({ region }) => region));
      for (const region of listedIn) await unlistConversation(store, region, id);
      return true;
    },
    move,
    reoffer: reoffer.start,
    live: () => live.sums(clock.monotonicMs()),
    start: async () => {
      await listener.start();
      count();
      timers.push(
        setInterval(() => void sweep(), SWEEP_EVERY_MS),
        setInterval(count, COUNT_EVERY_MS),
      );
      for (const timer of timers) timer.unref();
    },
    stop: async () => {
      for (const timer of timers.splice(0)) clearInterval(timer);
      listener.stop();
      news.stop();
      reoffer.stop();
      queue.stop();
      await queue.drained();
    },
  };
};
