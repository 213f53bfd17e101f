/** A turn that this region refuses, sent on to the regions that the ticket names as the next best: never by another redirect, which would lose the key. */
import type { Agent, Dispatcher } from "undici";
import { forwardedHeaders } from "#shared/hop-headers.ts";
import type { RegionId } from "#shared/ids.ts";
import { failureEvent } from "#shared/sse-failure.ts";
import { pump } from "#shared/stream-pump.ts";
import { bodyOf, canSend, type Exchange } from "./exchange.ts";
import { BodyFault } from "./request-body.ts";

export type HopRules = {
  readonly agent: Agent;
  readonly region: RegionId;
  readonly idleMs: number;
  readonly readerIdleMs: number;
  readonly onHop: (to: RegionId, outcome: string) => void;
};

export type HopEnd =
  | { readonly kind: "served" | "aborted" | "failed" }
  /** Nobody took it; nothing was written to the client. */
  | { readonly kind: "nowhere" }
  | { readonly kind: "body"; readonly fault: BodyFault };

export const HOP_HEADER = "x-gtm-hop";
export const MOST_HOPS = 2;
const PIN_PARAMETER = "gtm_c";
const DECLINED: ReadonlySet<number> = new Set([421, 502, 503, 504]);

/** @param text of `X-GTM-Hop`; null: absent @returns 0 to 2; what is no number is taken for the last hop */
export const hopIn = (text: string | null): number => {
  if (text === null) return 0;
  return /^[0-2]$/.test(text) ? Number(text) : MOST_HOPS;
};

/** Never rejects. A turn that came from another gateway goes no further: that one asks the next region itself. */
export const toOtherRegions = async (exchange: Exchange, rules: HopRules): Promise<HopEnd> => {
  const alternates = exchange.hop === 0 ? (exchange.claims?.alternates ?? []) : [];
  for (const [at, { region, origin }] of alternates.slice(0, MOST_HOPS).entries()) {
    if (region === rules.region) continue;
    if (!canSend(exchange)) break;
    const pumped = await pump(rules.agent, requestFor(exchange, origin, at + 1, rules.idleMs), {
      outgoing: exchange.outgoing,
      declines: (status) => DECLINED.has(status),
      // The other gateway has said all that there is to say; whether the connection stays open is ours.
      headersFor: (_, raw) => [...forwardedHeaders(raw, NOTHING), ...closeOnly(exchange.ownHeaders())],
      head: () => {},
      chunk: () => {},
      before: () => null,
      failureEvent: () =>
        failureEvent(exchange.turn.path, "The region ended in the middle of its answer. Send the request again."),
      readerStallMs: rules.readerIdleMs,
    });
    rules.onHop(region, pumped.kind);
    if (pumped.kind === "unanswered" && pumped.error instanceof BodyFault) return { kind: "body", fault: pumped.error };
    if (pumped.kind !== "unanswered" && pumped.kind !== "declined") return pumped;
  }
  return { kind: "nowhere" };
};

const NOTHING: ReadonlySet<string> = new Set();
const PROMPT_TOKENS = "x-input-tokens";
/** What the front found is better than what the client says, and one of each is enough. */
const ESTIMATES: ReadonlySet<string> = new Set([PROMPT_TOKENS, "x-forwarded-for"]);

const closeOnly = (own: readonly string[]): readonly string[] => (own.includes("Connection") ? CLOSE : []);
const CLOSE: readonly string[] = ["Connection", "close"];

const requestFor = (exchange: Exchange, origin: string, hop: number, idleMs: number): Dispatcher.DispatchOptions => {
  const { turn, identified, pathAndQuery } = exchange;
  const pinned =
    identified.pin === null
      ? pathAndQuery
      : `${pathAndQuery}${pathAndQuery.includes("?") ? "&" : "?"}${PIN_PARAMETER}=${identified.pin}`;
  return {
    origin,
    path: pinned,
    method: exchange.method,
    headers: [
      ...forwardedHeaders(exchange.headers, ESTIMATES),
      ...[HOP_HEADER, `${hop}`, PROMPT_TOKENS, `${Math.round(turn.promptTokens)}`],
      // Its network: believed where this gateway is among the other's trusted proxies.
      ...(turn.clientPrefix === null ? [] : ["x-forwarded-for", turn.clientPrefix.replace(/\/.*$/, "")]),
      ...(turn.model !== null && /^[\x21-\x7e]+$/.test(turn.model) ? ["x-gtm-model", turn.model] : []),
      ...(turn.outputTokens === null ? [] : ["x-gtm-expected-output-tokens", `${Math.round(turn.outputTokens)}`]),
    ],
    body: bodyOf(exchange),
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  };
};
