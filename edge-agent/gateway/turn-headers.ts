/** Headers of a turn: what the engine gets of the client's, and what the gateway adds to each answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { forwardedHeaders } from "#shared/hop-headers.ts";
import type { RegionId } from "#shared/ids.ts";
import type { TicketClaims } from "#shared/ticket.ts";

/** Of us and of the way to us: nothing to an engine. `accept-encoding` is asked for anew. */
const OURS: readonly string[] = [
  ...["host", "accept-encoding", "x-gtm-hop", "x-gtm-pin", "x-gtm-model"],
  ...["x-gtm-expected-output-tokens", "x-gtm-parent-conversation", "forwarded"],
];
const WITHOUT_OURS: ReadonlySet<string> = new Set(OURS);

/** What the client sent, and what its ticket kept for it: that speaks louder, as the front door saw it. */
export const headersForEngine = (incoming: IncomingMessage, claims: TicketClaims | null): readonly string[] => {
  const sealed = claims?.headers ?? [];
  if (sealed.length === 0) return forwardedHeaders(incoming.rawHeaders, WITHOUT_OURS);
  const without = new Set([...OURS, ...sealed.map(([name]) => name.toLowerCase())]);
  return [...forwardedHeaders(incoming.rawHeaders, without), ...sealed.flat()];
};

/**
 * Names and values in turn. Over HTTP/2 there is no `Connection`: the session is told to end (GOAWAY) instead, and ends once
 * its streams have.
 */
export const ownHeadersFor = (answer: {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly region: RegionId;
  readonly closes: boolean;
}): readonly string[] => {
  const { incoming, outgoing, region, closes } = answer;
  if (!closes) return ["X-GTM-Region", region];
  if (incoming.httpVersionMajor < 2) return ["X-GTM-Region", region, "Connection", "close"];
  endSession(outgoing);
  return ["X-GTM-Region", region];
};

/** Node's compatible interface carries the stream, which its types for HTTP/1.1 do not know. */
const endSession = (outgoing: ServerResponse): void => {
  const stream: unknown = "stream" in outgoing ? outgoing.stream : null;
  const session = typeof stream === "object" && stream !== null && "session" in stream ? stream.session : null;
  if (typeof session !== "object" || session === null || !("close" in session)) return;
  if (typeof session.close === "function") session.close();
};
