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
   * Where in the required part a pointer to the apex belongs. The two octets there hold the length of the apex's name,
   * which every question's name ends with: how far before its end the pointer must point.
   */
  readonly apexPointersAt: readonly number[];
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
};
