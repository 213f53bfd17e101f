/** The names of conversations that a request may hold, one source at a time. */
import type { IncomingHttpHeaders } from "node:http";
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { Scanned } from "./body-scan.ts";
import { headerIn } from "./headers.ts";

/** Sources that are a name; the others are tokens, and what the store knows. */
export type NameSource = Exclude<IdentitySource, "pin-token" | "host-label" | "state">;

export const PIN_HEADER = "x-gtm-pin";

/** Members of the body that name a conversation, by source. */
const MEMBERS = {
  "prompt-cache-key": "prompt_cache_key",
  session: "metadata.session_id",
  "metadata-user": "metadata.user_id",
  user: "user",
} as const satisfies Partial<Record<NameSource, string>>;
export const IDENTITY_MEMBERS: readonly string[] = Object.values(MEMBERS);

/** What any client may send to name its conversation. */
const HEADERS = ["x-conversation-id", "x-session-id", "x-session-affinity"] as const;
/** What known clients and routers send unasked: Codex, Open WebUI, LiteLLM, SGLang's router, Dynamo, AIBrix. */
const CLIENT_HEADERS = [
  "session_id",
  "x-openwebui-chat-id",
  "x-litellm-session-id",
  "x-smg-routing-key",
  "x-dynamo-session-id",
  "x-aibrix-session-key",
] as const;
/** Claude Code's session, and which of its agents asks; none: the one that the person talks to. */
const CLAUDE_SESSION = "x-claude-code-session-id";
const CLAUDE_AGENT = "x-claude-code-agent-id";
/** What spawned that agent; none: the session's own. */
const CLAUDE_PARENT_AGENT = "x-claude-code-parent-agent-id";
const PARENT_HEADERS = ["x-gtm-parent-conversation", "x-dynamo-parent-session-id", "x-codex-parent-thread-id"] as const;

export type Said = {
  readonly headers: IncomingHttpHeaders;
  /** The raw query string. */
  readonly query: string;
  readonly isBodyRead: boolean;
  /** null: the body has not been looked at. */
  readonly scanned: Scanned | null;
};

/** A name; null: this source says nothing; "too-long": it says more than a name; "unread": it would be in the body. */
export type SaidName = { readonly name: string } | "too-long" | "unread" | null;

/** HTTP and HMAC have no trouble with more; the ledger's owner has. */
const MOST_OCTETS = 256;

export const nameFrom = (source: NameSource, said: Said): SaidName => {
  switch (source) {
    case "header":
      return bounded(firstHeader(said.headers, HEADERS));
    case "client-header":
      return bounded(agentOf(said.headers, CLAUDE_AGENT) ?? firstHeader(said.headers, CLIENT_HEADERS));
    case "query":
      return bounded(queryParameter(said.query));
    case "prompt-cache-key":
      // One key may cover many conversations: their openings tell them apart.
      return prefixed(source, memberOf(said, MEMBERS[source]), said.scanned?.fingerprint ?? null);
    case "user":
      // It names a person: never the same conversation as one that is called so elsewhere.
      return prefixed(source, memberOf(said, MEMBERS[source]), null);
    case "session":
    case "metadata-user":
      return memberOf(said, MEMBERS[source]);
    case "fingerprint":
      return fingerprintOf(said);
  }
};

/** What the request says of the conversation that this one began from. */
export const parentFrom = (headers: IncomingHttpHeaders): SaidName =>
  bounded(
    firstHeader(headers, PARENT_HEADERS) ??
      // Only an agent of the session has a parent within it.
      (headerIn(headers, CLAUDE_AGENT) === null ? null : agentOf(headers, CLAUDE_PARENT_AGENT)),
  );

const firstHeader = (headers: IncomingHttpHeaders, names: readonly string[]): string | null => {
  for (const name of names) {
    const value = headerIn(headers, name);
    if (value !== null) return value;
  }
  return null;
};

/** Each agent of a session is a conversation of its own. */
const agentOf = (headers: IncomingHttpHeaders, agentHeader: string): string | null => {
  const session = headerIn(headers, CLAUDE_SESSION);
  const agent = headerIn(headers, agentHeader);
  return session === null || agent === null ? session : `${session}\0${agent}`;
};

const queryParameter = (query: string): string | null =>
  query.includes("conversation=") ? new URLSearchParams(query).get("conversation") : null;

const memberOf = ({ isBodyRead, scanned }: Said, path: string): SaidName => {
  if (!isBodyRead) return "unread";
  if (scanned === null) return null;
  if (scanned.tooLong.has(path)) return "too-long";
  const value = scanned.values.get(path);
  return bounded(typeof value === "string" ? value : null);
};

const fingerprintOf = ({ isBodyRead, scanned }: Said): SaidName => {
  if (!isBodyRead) return "unread";
  const fingerprint = scanned?.fingerprint ?? null;
  return fingerprint === null ? null : { name: `fingerprint\0${fingerprint}` };
};

export const bounded = (name: string | null): SaidName => {
  if (name === null || name === "") return null;
  return Buffer.byteLength(name) > MOST_OCTETS ? "too-long" : { name };
};

const prefixed = (source: NameSource, said: SaidName, suffix: string | null): SaidName =>
  said === null || typeof said === "string"
    ? said
    : { name: `${source}\0${said.name}${suffix === null ? "" : `\0${suffix}`}` };
