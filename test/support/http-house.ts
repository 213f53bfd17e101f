/** A front door that remembers: each decision leaves the conversation where it was sent, as the ledger does. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { ConversationId } from "#shared/ids.ts";
import { MODEL, NOW_MS } from "./builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor } from "./front-door.ts";

/** Costly enough to rebuild that a conversation stays. */
const CONTEXT_TOKENS = 20_000;

export const startRememberingFrontDoor = async (wish: FrontDoorWish = {}): Promise<RunningFrontDoor> => {
  const conversations = new Map<ConversationId, Conversation>();
  const entries: Entry[] = [];
  const front = await startFrontDoor({
    ...wish,
    conversations,
    ports: {
      record: (entry) => {
        entries.push(entry);
        remember(conversations, entry);
      },
      ...wish.ports,
    },
  });
  return { ...front, entries };
};

const remember = (conversations: Map<ConversationId, Conversation>, { query, decision }: Entry): void => {
  const { verdict } = decision;
  const id = query.conversationId;
  if (id === null || verdict.kind === "unserved") return;
  const atMs = NOW_MS;
  const home = { region: verdict.region, replica: null, tokens: CONTEXT_TOKENS, atMs };
  conversations.set(id, {
    id,
    model: query.model ?? MODEL,
    holdings: [home],
    turns: (conversations.get(id)?.turns ?? 0) + 1,
    lastTurnAtMs: atMs,
    rev: 1,
    refusedBy: [],
  });
};
