/** The options of a reply beside client subnet and the image's own error: cookie, NSID, keepalive, and how stale the answer is. */
import type { CookieState, Cookies } from "./cookies.ts";
import { COOKIE_OPTION_OCTETS } from "./cookies.ts";
import type { DnsQuery } from "./dns-query.ts";
import { encodeExtendedError, encodeOption } from "./edns.ts";
import type { DnsReply } from "./image.ts";
import type { Transport } from "./tally.ts";

export type ReplyOptionsOptions = {
  readonly cookies: Cookies;
  /** Who answers, for those who ask (RFC 5001); null: they are not told. */
  readonly nsid: string | null;
  /** How long a connection may be idle: what `edns-tcp-keepalive` says (RFC 7828). */
  readonly tcpIdleMs: number;
  /** Whether decisions rest on facts that are not renewed. */
  readonly isStale: () => boolean;
};

export type ReplyOptions = {
  /** What the query asks for by its options. @returns what its cookie says; null: it has none */
  readonly begin: (query: DnsQuery, reply: DnsReply) => CookieState | null;
  /** What is known once the answer is. */
  readonly end: (query: DnsQuery, reply: DnsReply) => void;
};

const OPTION_NSID = 3;
const OPTION_KEEPALIVE = 11;
/** RFC 7828 §3.1: units of 100 ms in two octets. */
const KEEPALIVE_UNIT_MS = 100;

const STALE = encodeExtendedError("stale-answer", "decided on facts that are not renewed");

export const createReplyOptions = (options: ReplyOptionsOptions, transport: Transport): ReplyOptions => {
  const { cookies, isStale } = options;
  const nsid = options.nsid === null ? null : encodeOption(OPTION_NSID, Buffer.from(options.nsid, "utf8"));
  const units = Math.min(0xffff, Math.floor(options.tcpIdleMs / KEEPALIVE_UNIT_MS));
  // RFC 7828 §3.2.1: over UDP the option means nothing.
  const keepalive =
    transport === "tcp" ? encodeOption(OPTION_KEEPALIVE, Uint8Array.of(units >>> 8, units & 0xff)) : null;
  const add = (reply: DnsReply, option: Uint8Array): void => {
    reply.extra.set(option, reply.extraOctets);
    reply.extraOctets += option.length;
  };
  return {
    begin: (query, reply) => {
      if (nsid !== null && query.asksNsid) add(reply, nsid);
      if (keepalive !== null && query.asksKeepalive) add(reply, keepalive);
      if (query.cookieOctets === 0) return null;
      const state = cookies.answer(query, reply.extra, reply.extraOctets);
      reply.extraOctets += COOKIE_OPTION_OCTETS;
      return state;
    },
    end: (query, reply) => {
      if (query.hasOpt && reply.isDecided && reply.image.error === null && isStale()) add(reply, STALE);
    },
  };
};
