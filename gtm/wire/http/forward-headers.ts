/** Headers of a forwarded request and of its answer: end to end ones go on, those of a connection do not, and ours are added. */
import type { IncomingMessage } from "node:http";
import { forwardedHeaders, type RawHeaders, rawHeader } from "#shared/hop-headers.ts";
import { exposedHeaders } from "./cors.ts";
import type { ForwardOrder, ForwardTarget } from "./forward-order.ts";
import type { Peer } from "./peers.ts";

/** Us, in `Via` (RFC 9110 §7.6.3). */
export const VIA = "1.1 llm-gtm";

const REPLACED: ReadonlySet<string> = new Set([
  "host",
  "via",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-gtm-pin",
  "x-gtm-hop",
]);

/** Whether the request has been here before. */
export const isLoop = ({ headers }: IncomingMessage): boolean => headers.via?.includes("llm-gtm") === true;

/**
 * @param peer trusted proxies' X-Forwarded-* are continued, anybody else's replaced
 * @returns names and values in turn; Host is the region's own
 */
export const requestHeaders = (incoming: IncomingMessage, peer: Peer, { pin }: ForwardTarget): string[] => {
  const { rawHeaders, headers, socket } = incoming;
  const before = peer.isTrusted ? rawHeader(rawHeaders, "x-forwarded-for") : null;
  const proto = peer.isTrusted ? rawHeader(rawHeaders, "x-forwarded-proto") : null;
  const host = (peer.isTrusted ? rawHeader(rawHeaders, "x-forwarded-host") : null) ?? headers.host;
  const added = ["Via", headers.via === undefined ? VIA : `${headers.via}, ${VIA}`];
  if (peer.address !== "") {
    added.push("X-Forwarded-For", before === null ? peer.address : `${before}, ${peer.address}`);
  }
  added.push("X-Forwarded-Proto", proto ?? ("encrypted" in socket ? "https" : "http"));
  if (host !== undefined) added.push("X-Forwarded-Host", host);
  if (pin !== null) added.push("X-GTM-Pin", pin.token);
  return [...forwardedHeaders(rawHeaders, REPLACED), ...added];
};

const OURS: ReadonlySet<string> = new Set([
  "via",
  "x-accel-buffering",
  "x-gtm-region",
  "x-gtm-decision",
  "x-gtm-verdict",
  "x-gtm-pin",
  "x-gtm-pinned-base-url",
]);
/** The region's word on CORS would stand beside ours. */
const CORS: readonly string[] = [
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-expose-headers",
  "timing-allow-origin",
];
const OURS_AND_CORS: ReadonlySet<string> = new Set([...OURS, ...CORS]);

export type AnswerFacts = {
  readonly order: ForwardOrder;
  readonly target: ForwardTarget;
  /** Whether the connection ends with this answer. */
  readonly isLast: boolean;
};

/** @param raw of the region's answer @returns names and values in turn */
export const answerHeaders = (
  incoming: IncomingMessage,
  raw: RawHeaders,
  { order, target, isLast }: AnswerFacts,
): string[] => {
  const exposed = exposedHeaders(incoming.headers);
  const headers = forwardedHeaders(raw, exposed === null ? OURS : OURS_AND_CORS);
  headers.push(
    ...["Via", VIA, "X-GTM-Region", target.region, "X-GTM-Decision", order.decisionId, "X-GTM-Verdict", order.verdict],
    ...["Server-Timing", `gtm;dur=${Math.round(order.steeredMs * 1_000) / 1_000}`],
  );
  if (target.pin !== null) {
    headers.push("X-GTM-Pin", target.pin.token);
    if (target.pin.baseUrl !== null) headers.push("X-GTM-Pinned-Base-URL", target.pin.baseUrl);
  }
  // What nginx and its kin would else collect before they pass it on.
  if (/^\s*text\/event-stream/i.test(rawHeader(raw, "content-type") ?? "")) headers.push("X-Accel-Buffering", "no");
  if (exposed !== null) headers.push(...Object.entries(exposed).flat());
  if (isLast) headers.push("Connection", "close");
  return headers;
};
