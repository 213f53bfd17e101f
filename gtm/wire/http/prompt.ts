/** How much work a request brings, as far as its headers and its body's outline say. */
import type { IncomingHttpHeaders } from "node:http";
import type { Scanned } from "./body-scan.ts";
import { countIn } from "./headers.ts";
import type { Scalar } from "./kept-scalars.ts";

/** Of English text and of JSON around it; gateways correct it by what they measure. */
const BYTES_PER_TOKEN = 4;

/** Members that bound the output, in the order that engines heed them. */
const OUTPUT_MEMBERS = ["max_completion_tokens", "max_tokens", "max_output_tokens"] as const;
export const PROMPT_MEMBERS: readonly string[] = OUTPUT_MEMBERS;

export type SeenBody = {
  /** Whether it has been read; where not, `bytes` is what is announced, and nothing was scanned. */
  readonly isRead: boolean;
  readonly bytes: number;
  /** null: not looked at. */
  readonly scanned: Scanned | null;
};

/**
 * Tokens of the whole prompt; null: unknown, as for a body that is compressed, a form or a recording.
 *
 * @param isOfConversation a request without a body adds nothing; where it names a conversation, the context stays what it is
 * @param longest tokens of the longest context that a region takes; null: no limit. A guess stops there: whether a prompt is
 * too long the engine knows, and says so in its own words
 */
export const promptTokensOf = (
  headers: IncomingHttpHeaders,
  body: SeenBody,
  isOfConversation: boolean,
  longest: number | null,
): number | null => {
  const claimed = countIn(headers, "x-input-tokens");
  if (claimed !== null) return claimed;
  if (body.bytes === 0) return isOfConversation ? null : 0;
  const textBytes = textBytesOf(headers, body);
  return textBytes === null ? null : Math.min(Math.ceil(textBytes / BYTES_PER_TOKEN), longest ?? Infinity);
};

const textBytesOf = (headers: IncomingHttpHeaders, { isRead, bytes, scanned }: SeenBody): number | null => {
  if (!isRead) return isScannable(headers) ? bytes : null;
  return scanned?.isObject === true ? bytes - scanned.blobBytes : null;
};

/** Tokens that the client expects of the answer; null: it does not say. */
export const outputTokensOf = (headers: IncomingHttpHeaders): number | null =>
  countIn(headers, "x-gtm-expected-output-tokens");

/** Tokens that the answer may have at most; null: the request does not say. */
export const outputLimitTokensOf = ({ scanned }: SeenBody): number | null => {
  for (const member of OUTPUT_MEMBERS) {
    const tokens = scanned?.values.get(member);
    if (isCount(tokens)) return tokens;
  }
  return null;
};

const isCount = (value: Scalar | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Whether a body may be scanned as it comes: JSON that is not compressed. */
export const isScannable = (headers: IncomingHttpHeaders): boolean => {
  const encoding = headers["content-encoding"];
  return (encoding === undefined || encoding.toLowerCase() === "identity") && isJsonType(headers);
};

/** JSON, or what curl and others call by another name or by none. */
export const isJsonType = (headers: IncomingHttpHeaders): boolean => {
  const type = headers["content-type"];
  return type === undefined || SCANNABLE_TYPE.test(type);
};

/** `curl -d` calls everything a form; the outline finds out soon enough what is no object. */
const SCANNABLE_TYPE = /^(?:[\w.-]+\/(?:[\w.-]+\+)?json|text\/plain|application\/x-www-form-urlencoded)\s*(?:;|$)/i;
