/** Whether a label would be found as it was, without deciding anew: a name never moves, it follows the ledger. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { FoundLabel } from "./label-finder.ts";

/** @returns false also where the store would have to be asked first */
export type ConfirmLabel = (found: FoundLabel) => boolean;

/** Where a label leads depends on its conversation's home and on the regions' candidacy, which is the caller's to compare. */
export const createLabelConfirm =
  ({ findConversation }: Pick<Ports, "findConversation">): ConfirmLabel =>
  ({ finding }) => {
    if (finding.kind === "stranger") return false;
    const { conversation, conversationId } = finding.decision.turn;
    if (conversation === null) return false;
    const known = findConversation(conversationId);
    return known !== null && !(known instanceof Promise) && leadsAlike(known, conversation);
  };

const leadsAlike = (a: Conversation, b: Conversation): boolean =>
  a === b ||
  (a.model === b.model &&
    homeOf(a) === homeOf(b) &&
    a.refusedBy.length === b.refusedBy.length &&
    a.refusedBy.every((region) => b.refusedBy.includes(region)));
