/** Answers that say no: each with the SOA that tells how long the no may be kept (RFC 2308). */
import type { Zone } from "#gtm/domain/zone.ts";
import { type DnsRecord, emptyImage, encodeImage } from "./codec.ts";
import { encodeExtendedError } from "./edns.ts";
import type { Image } from "./image.ts";
import { RCODE } from "./record-type.ts";
import { LASTING_TTL_SECONDS, soaOf } from "./zone-entries.ts";

export type Negative = {
  /** The name exists, without records of this type. */
  readonly nodata: Image;
  readonly nxdomain: Image;
  /** The same as `nodata`, to be kept for less, with an extended error. */
  readonly nodataFor: (ttlSeconds: number, error: Uint8Array) => Image;
};

/** @returns the SOA record of a negative answer; RFC 2308 §3: it is kept for the lesser of its own TTL and its minimum */
export const negativeSoa = (zone: Zone): DnsRecord => ({
  owner: { suffix: zone.name },
  ttlSeconds: Math.min(LASTING_TTL_SECONDS, zone.soa.minimumSeconds),
  data: soaOf(zone),
});

export const negativeAnswers = (zone: Zone): Negative => {
  const record = negativeSoa(zone);
  const { ttlSeconds } = record;
  const withSoa = (rcode: number, soaTtlSeconds: number, error: Uint8Array | null): Image =>
    encodeImage({
      rcode,
      isAuthoritative: true,
      error,
      answers: [],
      authority: [{ ...record, ttlSeconds: soaTtlSeconds }],
      additional: [],
    });
  return {
    nodata: withSoa(RCODE.NOERROR, ttlSeconds, null),
    nxdomain: withSoa(RCODE.NXDOMAIN, ttlSeconds, null),
    nodataFor: (shorterSeconds, error) => withSoa(RCODE.NOERROR, Math.min(ttlSeconds, shorterSeconds), error),
  };
};

/** Never with the authority bit, nor with a referral to the root (RFC 1034 §4.3.1 leaves it open; amplifiers live of it). */
export const REFUSALS = {
  formerr: emptyImage(RCODE.FORMERR, false),
  notimp: emptyImage(RCODE.NOTIMP, false),
  badvers: emptyImage(RCODE.BADVERS, false),
  refused: emptyImage(RCODE.REFUSED, false),
  servfail: emptyImage(RCODE.SERVFAIL, false),
  /** RFC 7873 §5.4: what is asked for stands in OPT. */
  cookie: emptyImage(RCODE.NOERROR, false),
  badcookie: emptyImage(RCODE.BADCOOKIE, false),
  /** No reply has room for it, so that it is nothing but TC: come again over TCP, where an address cannot be forged. */
  slip: { ...emptyImage(RCODE.NOERROR, false), requiredOctets: Number.POSITIVE_INFINITY },
  outside: emptyImage(RCODE.REFUSED, false, encodeExtendedError("not-authoritative", "")),
  prohibited: emptyImage(RCODE.REFUSED, false, encodeExtendedError("prohibited", "")),
} as const satisfies Readonly<Record<string, Image>>;
