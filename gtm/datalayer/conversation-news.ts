/** What is done when somebody else wrote a conversation, another GTM or a gateway: it is read again. */

import type { LiveLedger } from "#gtm/domain/live-tokens.ts";
import type { ConversationId } from "#shared/ids.ts";
import type { ConversationCache } from "./conversation-cache.ts";
import { createConversationRefresh } from "./conversation-refresh.ts";

export type ConversationNews = {
  /** Returns at once. @param rev 1 or more */
  readonly changed: (id: ConversationId, rev: number) => void;
  /** Returns at once. */
  readonly refused: (id: ConversationId) => void;
  readonly stop: () => void;
};

export const createConversationNews = (options: {
  readonly cache: ConversationCache;
  readonly live: Pick<LiveLedger, "forget">;
  /** Neither ever rejects. */
  readonly read: (id: ConversationId) => Promise<void>;
  readonly readRefusal: (id: ConversationId) => Promise<void>;
}): ConversationNews => {
  const { cache, live } = options;
  const refresh = createConversationRefresh(options.read);
  const refusals = createConversationRefresh(options.readRefusal);
  return {
    changed: (id, rev) => {
      const known = cache.peek(id);
      if (known !== undefined && known.conversation.rev >= rev) return;
      if (known === undefined) return live.forget(id);
      cache.set(id, { ...known, isOutdated: true });
      refresh.add(id);
    },
    // One that is not known here is asked about with the conversation.
    refused: (id) => {
      if (cache.has(id)) refusals.add(id);
    },
    stop: () => {
      refresh.stop();
      refusals.stop();
    },
  };
};
