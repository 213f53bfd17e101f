/** Which regions hold a conversation: a bounded cache before the store, written behind the decisions, usable while the store is away. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn, keptAt } from "#gtm/domain/conversation-ledger.ts";
import { ALL_CONVERSATIONS } from "#gtm/domain/conversation-query.ts";
import { createLiveLedger } from "#gtm/domain/live-tokens.ts";
import { ownerOf } from "#shared/conversation-record.ts";
import type { ConversationId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import { createConversationCache, type KnownConversation } from "./conversation-cache.ts";
import { findConversations } from "./conversation-list.ts";
import { createConversationListener } from "./conversation-listener.ts";
import { createConversationLookup } from "./conversation-lookup.ts";
import { createConversationMove } from "./conversation-move.ts";
import { createConversationNews } from "./conversation-news.ts";
import type { ConversationStore, ConversationStoreOptions } from "./conversation-port.ts";
import { createConversationReader } from "./conversation-reader.ts";
import { createConversationRefusals } from "./conversation-refusals.ts";
import { createConversationRelease } from "./conversation-release.ts";
import { createConversationReoffer } from "./conversation-reoffer.ts";
import { createConversationUpkeep } from "./conversation-upkeep.ts";
import { createConversationWriter } from "./conversation-writer.ts";
import { servedTurnOf } from "./served-turn.ts";

const TTL_MS = KEYS.conversation.ttlMs;
/** The stated window in which two GTMs may differ. */
const TRUSTED_FOR_MS = 2_000;

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
  const upkeep = createConversationUpkeep(options, live);
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
    refusedBy: (id) => (id === null ? [] : refusals.by(id)),
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
    release: createConversationRelease({ store, clock, read, forget }),
    move,
    reoffer: reoffer.start,
    live: () => live.sums(clock.monotonicMs()),
    start: async () => {
      await listener.start();
      upkeep.start();
    },
    stop: async () => {
      upkeep.stop();
      listener.stop();
      news.stop();
      reoffer.stop();
      queue.stop();
      await queue.drained();
    },
  };
};
