/** A place in a list of conversations as a text that clients hand back unread. */
import type { ConversationSort } from "#gtm/domain/conversation-query.ts";
import { ConversationId, RegionId } from "#shared/ids.ts";
import type { Listed } from "./conversation-walk.ts";

export const cursorOf = (sort: ConversationSort, { score, member, region }: Listed): string =>
  Buffer.from(JSON.stringify([sort, score, member, region])).toString("base64url");

/** @returns null: it is none of ours, or of a list in another order */
export const placeIn = (sort: ConversationSort, cursor: string): Listed | null => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (!Array.isArray(parsed) || parsed[0] !== sort || !Number.isFinite(parsed[1])) return null;
    const member = ConversationId.safeParse(parsed[2]);
    const region = RegionId.safeParse(parsed[3]);
    return member.success && region.success
      ? { score: parsed[1] as number, member: member.data, region: region.data }
      : null;
  } catch {
    return null;
  }
};
