/** An answer encoded ahead of the question: what follows the question's section, ready to be copied behind it. */

/** Shared by all queries that get this answer; owner names are pointers, so that no name is in it. */
export type Image = {
  /** 12 bits; the upper 8 travel in OPT. */
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  readonly additionalCount: number;
  readonly octets: Uint8Array;
  /** Length of the answer and authority sections; what follows is left out first where space is short. */
  readonly requiredOctets: number;
  /**
   * Where in the required part a pointer to a name belongs that every question's name ends with, such as the apex. The two
   * octets there hold that name's length: how far before the question's end the pointer must point.
   */
  readonly suffixPointersAt: readonly number[];
  /** An encoded extended error, sent where the query had OPT; null: none. */
  readonly error: Uint8Array | null;
};

/** One writer's register, for the same reason as DnsQuery. */
export type DnsReply = {
  image: Image;
  /** For whom the answer holds, 0 to 128; null: the reply does not speak of the client's subnet. */
  scopeBits: number | null;
  /** The most that the reply may be long. */
  mostOctets: number;
  out: Uint8Array;
  /** Whether a decision stands behind the answer. */
  isDecided: boolean;
  /** Encoded options that the query asked for, and how much of it they are. */
  extra: Uint8Array;
  extraOctets: number;
};

/**
 * Cookie 28, keepalive 6, an extended error, and NSID, which the configuration keeps under 68: with the longest question and
 * client subnet they fit 512 octets.
 */
export const MOST_EXTRA_OCTETS = 192;

/** The register before its first reply. */
export const emptyReply = (image: Image): DnsReply => ({
  image,
  scopeBits: null,
  mostOctets: 0,
  out: new Uint8Array(0),
  isDecided: false,
  extra: new Uint8Array(MOST_EXTRA_OCTETS),
  extraOctets: 0,
});
