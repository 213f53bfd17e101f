/** What a turn continues that lies in one region: a stored response, or a stored conversation of the Responses API. */
import type { ConversationId, RegionId } from "#shared/ids.ts";
import type { Labels } from "#shared/pin-token.ts";
import { bounded, type Said, type SaidName } from "./identity-source.ts";

export type StateNamed = {
  readonly id: string;
  /** A response has another id each turn; a conversation keeps its own. */
  readonly kind: "response" | "conversation";
};

export type State = StateNamed & {
  /** Where it lies; null: nobody told, or nobody could be asked in time. */
  readonly region: RegionId | null;
  /** Which conversation it is a turn of; null: not known. */
  readonly conversation: ConversationId | null;
};

/** Has a deadline, and never rejects. @param response the identity of a response's or a stored conversation's id */
export type FindResponse = (response: ConversationId) => Promise<Pick<State, "region" | "conversation"> | null>;

const PREVIOUS = "previous_response_id";
const CONVERSATION = "conversation";
const CONVERSATION_ID = "conversation.id";
export const STATE_MEMBERS: readonly string[] = [PREVIOUS, CONVERSATION, CONVERSATION_ID];

/** A response or a conversation that is asked for by its path. */
const BY_PATH = /\/(responses|conversations)\/([^/]+)/;
const CREATES = /\/responses(?:\/(?:input_tokens|compact))?\/?$/;
/** Not an id, although it stands where one does. */
const ACTIONS: ReadonlySet<string> = new Set(["input_tokens", "compact"]);

/** @returns null: nothing; "too-long": more than an id; "unread": it would be in the body */
export const stateIn = (path: string, said: Said): StateNamed | "too-long" | "unread" | null => {
  const [, what, id = ""] = BY_PATH.exec(path) ?? [];
  if (what !== undefined && !ACTIONS.has(id)) {
    return named(bounded(id), what === "responses" ? "response" : "conversation");
  }
  if (!CREATES.test(path)) return null;
  if (!said.isBodyRead) return "unread";
  return (
    named(memberIn(said, PREVIOUS), "response") ??
    named(memberIn(said, CONVERSATION) ?? memberIn(said, CONVERSATION_ID), "conversation")
  );
};

const named = (said: SaidName, kind: StateNamed["kind"]): StateNamed | "too-long" | null => {
  if (said === null || said === "unread") return null;
  return said === "too-long" ? said : { id: said.name, kind };
};

const memberIn = ({ scanned }: Said, path: string): SaidName => {
  if (scanned === null) return null;
  if (scanned.tooLong.has(path)) return "too-long";
  const value = scanned.values.get(path);
  return bounded(typeof value === "string" ? value : null);
};

/** Ids are the engine's own, random and nobody's secret: they are looked up as what gateways wrote, under no tenant. */
export const responseIdentity = (labels: Pick<Labels, "conversationIdOf">, id: string): ConversationId =>
  labels.conversationIdOf("response", id);
