/** A conversation with what this instance last saw of who leads it: enough to decide its next turn. */
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Pool } from "#gtm/domain/pool.ts";

export type KnownConversation = {
  readonly conversation: Conversation;
  readonly pool: Pool;
  readonly tenant: string;
  readonly client: Client;
};
