/** Where a request may say which conversation it belongs to. */
import type { IncomingHttpHeaders } from "node:http";
import type { Scanned } from "./body-scan.ts";
import { headerIn } from "./headers.ts";

/** In the order of trust; configuration may choose another. */
export const IDENTITY_SOURCES = [
  "pin-token",
  "host-label",
  "header",
  "client-header",
  "query",
  "prompt-cache-key",
  "session",
  "metadata-user",
  "user",
] as const;
export type IdentitySource = (typeof IDENTITY_SOURCES)[number];
/** Sources that are a name; the other two are tokens. */
export type NameSource = Exclude<IdentitySource, "pin-token" | "host-label">;

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
/** What known clients and routers send unasked: Claude Code, Codex, Open WebUI, LiteLLM, SGLang's router, Dynamo, AIBrix. */
const CLIENT_HEADERS = [
  "x-claude-code-session-id",
  "session_id",
  "x-openwebui-chat-id",
  "x-litellm-session-id",
  "x-smg-routing-key",
  "x-dynamo-session-id",
  "x-aibrix-session-key",
] as const;

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
      return bounded(firstHeader(said.headers, CLIENT_HEADERS));
    case "query":
      return bounded(queryParameter(said.query));
    case "prompt-cache-key":
    case "user":
      // These name an application's cache or a person: never the same conversation as one that is called so elsewhere.
      return prefixed(source, memberOf(said, MEMBERS[source]));
    case "session":
    case "metadata-user":
      return memberOf(said, MEMBERS[source]);
  }
};

const firstHeader = (headers: IncomingHttpHeaders, names: readonly string[]): string | null => {
  for (const name of names) {
    const value = headerIn(headers, name);
    if (value !== null) return value;
  }
  return null;
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

const bounded = (name: string | null): SaidName => {
  if (name === null || name === "") return null;
  return Buffer.byteLength(name) > MOST_OCTETS ? "too-long" : { name };
};

const prefixed = (source: NameSource, said: SaidName): SaidName =>
  said === null || typeof said === "string" ? said : { name: `${source}\0${said.name}` };
