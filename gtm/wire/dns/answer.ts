/** The answer step: octets in, with where they came from; octets out, or a promise of them where a label must be looked up. */
import type { Logger } from "#shared/logger.ts";
import { type DnsQuery, emptyQuery } from "./dns-query.ts";
import { optOctets, PLAIN_PAYLOAD_OCTETS, UDP_PAYLOAD_OCTETS } from "./edns.ts";
import { emptyReply, type Image, MOST_EXTRA_OCTETS } from "./image.ts";
import type { StandingLabel } from "./labels.ts";
import { REFUSALS } from "./negative.ts";
import { readAddress } from "./peer-address.ts";
import { readQuery } from "./query.ts";
import type { RateLimiter, RateVerdict } from "./rate-limit.ts";
import { writeReply } from "./reply.ts";
import { createReplyOptions, type ReplyOptionsOptions } from "./reply-options.ts";
import { createResolve, type ResolveOptions, type Wait } from "./resolve.ts";
import type { Tally, Transport } from "./tally.ts";

/** RFC 1035 §4.2.2: the length of a message over TCP is told in two octets. */
export const TCP_PAYLOAD_OCTETS = 65_535;

/**
 * Never throws, and its promise never rejects.
 *
 * @param octets not read any more once the call is over
 * @param peer address that the octets came from, without a port
 * @param out takes the answer; as long as the transport's largest
 * @returns how many octets of `out` are the answer, 0 for none; or a promise of an answer that has its own, null for none
 */
export type AnswerStep = (octets: Uint8Array, peer: string, out: Uint8Array) => number | Promise<Uint8Array | null>;

export type AnswerOptions = ResolveOptions &
  ReplyOptionsOptions & {
    /** Shared by all sockets; over TCP nobody is limited. */
    readonly limiter: RateLimiter;
    readonly tally: Tally;
    readonly log: Logger;
  };

export const createAnswer = (options: AnswerOptions, transport: Transport): AnswerStep => {
  const { tally, log, limiter } = options;
  const resolve = createResolve(options, transport);
  const replyOptions = createReplyOptions(options, transport);
  // One step a transport, and it runs to its end before the next begins: its registers can be used again.
  const query = emptyQuery();
  const reply = emptyReply(REFUSALS.servfail);
  const address = new Uint8Array(16);

  const limited = (peer: string): RateVerdict => {
    if (transport === "tcp") return "pass";
    const verdict = limiter.take(address, readAddress(peer, address));
    if (verdict !== "pass") tally.rateLimited(verdict);
    return verdict;
  };

  const soundImage = (outcome: "query" | "cookie-query", found: StandingLabel | null): Image | Wait | null => {
    const cookie = query.hasOpt ? replyOptions.begin(query, reply) : null;
    // A valid cookie shows that the address is not forged; what was looked up was let pass when it came.
    const verdict = cookie === "valid" || found !== null ? "pass" : limited(query.peer);
    if (verdict !== "pass") return verdict === "drop" ? null : REFUSALS.slip;
    if (outcome === "query") return resolve(query, reply, found);
    reply.scopeBits = 0;
    return cookie === "invalid" ? REFUSALS.badcookie : REFUSALS.cookie;
  };

  /** @param found what a promise brought; null at first */
  const imageFor = (octets: Uint8Array, peer: string, found: StandingLabel | null): Image | Wait | null => {
    const outcome = readQuery(octets, query);
    query.peer = peer;
    reply.scopeBits = null;
    reply.isDecided = false;
    reply.extraOctets = 0;
    reply.mostOctets = mostOctets(query, transport);
    switch (outcome) {
      case "short":
      case "response":
        tally.dropped(outcome);
        return null;
      case "query":
      case "cookie-query":
        return soundImage(outcome, found);
      case "formerr":
      case "notimp":
      case "badvers":
        // No longer than the query, so that it may stand for TC.
        return limited(peer) === "drop" ? null : REFUSALS[outcome];
    }
  };
  const write = (image: Image, out: Uint8Array): number => {
    reply.image = image;
    reply.out = out;
    replyOptions.end(query, reply);
    tally.answered(transport, query.hasQuestion ? query.type : 0, image.rcode);
    return writeReply(query, reply);
  };
  const fault = (cause: unknown): Image => {
    tally.faulted();
    log.error("dns.answer-failed", { fault: (cause instanceof Error && cause.stack) || String(cause) });
    reply.scopeBits = null;
    reply.isDecided = false;
    reply.extraOctets = 0;
    return REFUSALS.servfail;
  };

  const writeNew = (image: Image): Uint8Array => {
    reply.image = image;
    const wholeOctets = query.questionEnd + image.octets.length + optOctets(query, reply) + MOST_EXTRA_OCTETS;
    const out = new Uint8Array(Math.min(wholeOctets, reply.mostOctets));
    return out.subarray(0, write(image, out));
  };
  /** The registers have served others meanwhile, so the question is read again. */
  const settle = async (octets: Uint8Array, peer: string, wait: Promise<StandingLabel>): Promise<Uint8Array | null> => {
    // The next datagram is received where this one was.
    const kept = Uint8Array.from(octets);
    try {
      const image = imageFor(kept, peer, await wait);
      return image === null || image === "overload" || image instanceof Promise ? null : writeNew(image);
    } catch (cause) {
      readQuery(kept, query);
      return writeNew(fault(cause));
    }
  };

  return (octets, peer, out) => {
    try {
      const image = imageFor(octets, peer, null);
      if (image instanceof Promise) return settle(octets, peer, image);
      if (image === "overload") tally.dropped(image);
      return image === null || image === "overload" ? 0 : write(image, out);
    } catch (cause) {
      return write(fault(cause), out);
    }
  };
};

/** RFC 6891 §6.2.3 to §6.2.5: what the client takes, never less than everybody takes nor more than we send. */
const mostOctets = (query: DnsQuery, transport: Transport): number => {
  if (transport === "tcp") return TCP_PAYLOAD_OCTETS;
  return Math.min(UDP_PAYLOAD_OCTETS, Math.max(PLAIN_PAYLOAD_OCTETS, query.payloadOctets));
};
