/** What one message asks, as offsets into its octets. */

/**
 * One reader's register, filled anew by each message: an object a query would be the largest allocation of the hot path.
 * Offsets count from the beginning of the message.
 */
export type DnsQuery = {
  octets: Uint8Array;
  /** Address that the message came from, without a port. */
  peer: string;
  /** Whether there is a question that could be read; the next four fields mean nothing without. */
  hasQuestion: boolean;
  nameEnd: number;
  questionEnd: number;
  type: number;
  class: number;
  hasOpt: boolean;
  /** The UDP payload that the client takes, 0 to 65 535; 0 without OPT. */
  payloadOctets: number;
  isDnssecOk: boolean;
  /** Whether OPT carries a client subnet; the next three fields mean nothing without. */
  hasSubnet: boolean;
  /** Where the option's data begins. */
  subnetAt: number;
  subnetFamily: 4 | 6;
  /** SOURCE PREFIX-LENGTH, 0 to 32 or 128. */
  subnetBits: number;
  /** Octets of the COOKIE option, 8 or 16 to 40; 0: there is none. */
  cookieOctets: number;
  /** Where its data begins. */
  cookieAt: number;
  asksNsid: boolean;
  asksKeepalive: boolean;
};

/** RFC 1035 §4.1.1; the question's name begins behind it. */
export const HEADER_OCTETS = 12;

export const emptyQuery = (): DnsQuery => ({
  octets: new Uint8Array(0),
  peer: "",
  hasQuestion: false,
  nameEnd: 0,
  questionEnd: 0,
  type: 0,
  class: 0,
  hasOpt: false,
  payloadOctets: 0,
  isDnssecOk: false,
  hasSubnet: false,
  subnetAt: 0,
  subnetFamily: 4,
  subnetBits: 0,
  cookieOctets: 0,
  cookieAt: 0,
  asksNsid: false,
  asksKeepalive: false,
});

export const readU16 = (octets: Uint8Array, at: number): number => ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);

export const writeU16 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 8;
  octets[at + 1] = value & 0xff;
};
