/**
 * DNS cookies (RFC 7873) in the layout that servers of one name share (RFC 9018): client cookie 8 octets, then version 1,
 * three reserved octets, seconds since 1970, and SipHash-2-4 over all that and the client's address. Nothing is kept of a client.
 */
import type { Clock } from "#shared/clock.ts";
import { type DnsQuery, writeU16 } from "./dns-query.ts";
import { readAddress } from "./peer-address.ts";
import { SIP_HASH_OCTETS, type SipKey, sipHash, sipKey } from "./siphash.ts";

/**
 * `new`: the client knows no server cookie yet; `valid`: it has one that we, or a server with our secret, gave to this very
 * address, so the address is not forged; `invalid`: it shows something else.
 */
export type CookieState = "new" | "valid" | "invalid";

export type Cookies = {
  /**
   * Writes the option that answers the query's.
   *
   * @param query has a COOKIE
   * @param out takes COOKIE_OPTION_OCTETS
   */
  readonly answer: (query: DnsQuery, out: Uint8Array, at: number) => CookieState;
};

export type CookieOptions = {
  /** 16 octets each; the first makes cookies, all are accepted. The same array until they change. */
  readonly secrets: () => readonly Uint8Array[];
  readonly clock: Pick<Clock, "epochMs">;
};

const CLIENT_COOKIE_OCTETS = 8;
/** Code and length, client cookie, server cookie. */
export const COOKIE_OPTION_OCTETS = 28;
const OPTION_COOKIE = 10;
const VERSION = 1;
const COOKIE_OCTETS = 24;
/** What the hash is made of, before the address. */
const HASHED_OCTETS = 16;

/** RFC 9018 §4.3: how long a cookie is good, how far another server's clock may be ahead, and when it is made anew. */
const VALID_SECONDS = 3_600;
const AHEAD_SECONDS = 300;
const RENEWED_AFTER_SECONDS = 1_800;

export const createCookies = ({ secrets, clock }: CookieOptions): Cookies => {
  let known: readonly Uint8Array[] = [];
  let keys: readonly SipKey[] = [];
  // One query is answered to its end before the next comes.
  const hashed = new Uint8Array(HASHED_OCTETS + 16);
  const hash = new Uint8Array(SIP_HASH_OCTETS);
  const address = hashed.subarray(HASHED_OCTETS);

  const current = (): readonly SipKey[] => {
    const now = secrets();
    if (now !== known) {
      keys = now.map(sipKey);
      known = now;
    }
    return keys;
  };
  const isMadeWith = (key: SipKey, octets: Uint8Array, hashAt: number, length: number): boolean => {
    sipHash(key, hashed, length, hash, 0);
    let difference = 0;
    for (let i = 0; i < SIP_HASH_OCTETS; i++) difference |= (hash[i] ?? 0) ^ (octets[hashAt + i] ?? 0);
    return difference === 0;
  };
  /** @returns which key made it; -1: none, or it is too old, too new, or of another version */
  const keyOf = ({ octets, cookieAt, cookieOctets }: DnsQuery, length: number, nowSeconds: number): number => {
    if (cookieOctets !== COOKIE_OCTETS || octets[cookieAt + CLIENT_COOKIE_OCTETS] !== VERSION) return -1;
    const age = ageSeconds(octets, cookieAt, nowSeconds);
    if (age > VALID_SECONDS || age < -AHEAD_SECONDS) return -1;
    copy(octets, cookieAt, hashed, 0, HASHED_OCTETS);
    return current().findIndex((key) => isMadeWith(key, octets, cookieAt + HASHED_OCTETS, length));
  };
  const make = ({ octets, cookieAt }: DnsQuery, length: number, nowSeconds: number, out: Uint8Array, at: number) => {
    copy(octets, cookieAt, hashed, 0, CLIENT_COOKIE_OCTETS);
    hashed.fill(0, CLIENT_COOKIE_OCTETS, HASHED_OCTETS);
    hashed[CLIENT_COOKIE_OCTETS] = VERSION;
    writeU16(hashed, 12, (nowSeconds >>> 16) & 0xffff);
    writeU16(hashed, 14, nowSeconds & 0xffff);
    copy(hashed, 0, out, at, HASHED_OCTETS);
    const [key] = current();
    if (key === undefined) throw new Error("there is no secret for cookies: whoever holds them has one always");
    sipHash(key, hashed, length, out, at + HASHED_OCTETS);
  };

  return {
    answer: (query, out, at) => {
      const { octets, cookieAt, cookieOctets } = query;
      const nowSeconds = Math.floor(clock.epochMs() / 1_000);
      const length = HASHED_OCTETS + readAddress(query.peer, address);
      writeU16(out, at, OPTION_COOKIE);
      writeU16(out, at + 2, COOKIE_OCTETS);
      const key = keyOf(query, length, nowSeconds);
      const isKept = key === 0 && Math.abs(ageSeconds(octets, cookieAt, nowSeconds)) <= RENEWED_AFTER_SECONDS;
      if (isKept) copy(octets, cookieAt, out, at + 4, COOKIE_OCTETS);
      else make(query, length, nowSeconds, out, at + 4);
      if (key >= 0) return "valid";
      return cookieOctets === CLIENT_COOKIE_OCTETS ? "new" : "invalid";
    },
  };
};

/** By serial number arithmetic (RFC 1982): 32 bits of seconds end in 2106, and cookies go on. */
const ageSeconds = (octets: Uint8Array, cookieAt: number, nowSeconds: number): number => {
  const at = cookieAt + 12;
  const high = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
  const low = ((octets[at + 2] ?? 0) << 8) | (octets[at + 3] ?? 0);
  return (nowSeconds - (high * 0x1_0000 + low)) | 0;
};

const copy = (from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number, octets: number): void => {
  for (let i = 0; i < octets; i++) to[toAt + i] = from[fromAt + i] ?? 0;
};
