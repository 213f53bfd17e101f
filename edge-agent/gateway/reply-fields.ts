/** The fields of a reply that matter here, in the four interfaces that engines speak: collected one scalar at a time. */
import type { Scalar } from "./json-scan.ts";

export type TokenCounts = {
  /** The whole prompt, what was cached of it included; null: the reply does not say, as with the others. */
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly completionTokens: number | null;
};

export type ReplyFields = {
  /** @returns whether it is content: the first of it says that the prefill is over */
  readonly take: (path: string, scalar: Scalar) => boolean;
  readonly tokens: () => TokenCounts;
  /** Of a stored response of the Responses API; null: there is none, or it is not stored. */
  readonly responseId: () => string | null;
  readonly hasError: () => boolean;
};

const MOST_TOKENS = 1e9;

/** @param isStream events wrap what a body says: `response.usage`, `message.usage`; and their own `id` is no response's */
export const createReplyFields = (isStream: boolean): ReplyFields => {
  const counts = new Map<string, number>();
  const idPath = isStream ? "response.id" : "id";
  let id: string | null = null;
  let isResponse = false;
  let isStored = true;
  let hasError = false;

  const count = (name: string, scalar: Scalar): void => {
    const tokens = tokensIn(scalar);
    if (tokens !== null) counts.set(name, tokens);
  };
  const takeOther = (path: string, { kind, text, isWhole }: Scalar): void => {
    if (path === "object" && text === "response") isResponse = true;
    else if (path === "store") isStored = text !== "false";
    else if (path === "error" || path.startsWith("error.")) hasError ||= kind === "string" && isWhole && text !== "";
  };
  return {
    take: (whole, scalar) => {
      const path = unwrapped(whole);
      if (whole === idPath) id = scalar.kind === "string" && scalar.isWhole ? scalar.text : null;
      else if (path.startsWith("usage.")) count(path.slice("usage.".length), scalar);
      else takeOther(path, scalar);
      return isContent(whole, scalar);
    },
    tokens: () => tokensOf(counts),
    responseId: () => (isResponse && isStored ? id : null),
    hasError: () => hasError,
  };
};

const unwrapped = (path: string): string =>
  path.startsWith("response.") || path.startsWith("message.") ? path.slice(path.indexOf(".") + 1) : path;

/** null: no count of tokens. */
const tokensIn = ({ kind, text }: Scalar): number | null => {
  const tokens = kind === "bare" && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return tokens <= MOST_TOKENS ? tokens : null;
};

/** OpenAI's prompt includes the cached tokens, Anthropic's input leaves them out: the fields that are there say which it is. */
const tokensOf = (counts: ReadonlyMap<string, number>): TokenCounts => {
  const read = (name: string): number | null => counts.get(name) ?? null;
  const apart = read("cache_read_input_tokens");
  const cached = read("prompt_tokens_details.cached_tokens") ?? read("input_tokens_details.cached_tokens") ?? apart;
  const input = read("input_tokens");
  const whole = input === null ? null : input + (apart ?? 0) + (read("cache_creation_input_tokens") ?? 0);
  const promptTokens = read("prompt_tokens") ?? whole;
  // More than the prompt has cannot be cached of it.
  const isSound = cached !== null && promptTokens !== null && cached <= promptTokens;
  return {
    promptTokens,
    cachedTokens: isSound ? cached : null,
    completionTokens: read("completion_tokens") ?? read("output_tokens"),
  };
};

/** Chat: `choices[].delta`. Legacy completions: `choices[].text`. Responses API: `delta` is a text. Anthropic: `delta` is an object. */
const CONTENT: ReadonlySet<string> = new Set([
  "choices.delta.content",
  "choices.delta.reasoning_content",
  "choices.delta.reasoning",
  "choices.delta.refusal",
  "choices.text",
  "delta",
  "delta.text",
  "delta.thinking",
  "delta.partial_json",
]);
const CALLS = /^choices\.delta\.(?:tool_calls|function_call)\./;

const isContent = (path: string, { kind, text }: Scalar): boolean =>
  kind === "string" && text !== "" && (CONTENT.has(path) || CALLS.test(path));
