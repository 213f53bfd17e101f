/**
 * The header that a balancer puts before a connection to say whose it is: PROXY protocol version 2 (HAProxy,
 * proxy-protocol.txt §2.2). Version 1, a line of text, is not taken: its end has to be searched for.
 */

const SIGNATURE = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const FIXED_OCTETS = 16;
/** Addresses of IPv6 are 36; what balancers add in type-length-values is far below this. */
const MOST_OCTETS = 4_096;
const IPV4_OCTETS = 12;
const IPV6_OCTETS = 36;

export type ProxyReading =
  /** Feed more octets; never more than 4 096 are asked for. */
  | { readonly kind: "incomplete" }
  /** `client` null: the balancer's own (LOCAL: a health check), or a family without addresses. */
  | {
      readonly kind: "read";
      readonly octets: number;
      readonly client: { readonly address: string; readonly port: number } | null;
    }
  | { readonly kind: "malformed"; readonly why: "no-signature" | "version" | "command" | "too-long" | "too-short" };

/** @param head all octets of the connection so far */
export const readProxyHeader = (head: Buffer): ProxyReading => {
  const known = Math.min(head.length, SIGNATURE.length);
  if (head.compare(SIGNATURE, 0, known, 0, known) !== 0) return { kind: "malformed", why: "no-signature" };
  if (head.length < FIXED_OCTETS) return { kind: "incomplete" };
  const versionAndCommand = head.readUInt8(12);
  if (versionAndCommand >>> 4 !== 2) return { kind: "malformed", why: "version" };
  const command = versionAndCommand & 0x0f;
  if (command > 1) return { kind: "malformed", why: "command" };
  const octets = FIXED_OCTETS + head.readUInt16BE(14);
  if (octets > MOST_OCTETS) return { kind: "malformed", why: "too-long" };
  if (head.length < octets) return { kind: "incomplete" };
  if (command === 0) return { kind: "read", octets, client: null };
  return withClient(head.subarray(FIXED_OCTETS, octets), head.readUInt8(13), octets);
};

const STREAM_IPV4 = 0x11;
const STREAM_IPV6 = 0x21;

const withClient = (body: Buffer, family: number, octets: number): ProxyReading => {
  const needed = family === STREAM_IPV4 ? IPV4_OCTETS : family === STREAM_IPV6 ? IPV6_OCTETS : 0;
  if (needed === 0) return { kind: "read", octets, client: null };
  if (body.length < needed) return { kind: "malformed", why: "too-short" };
  if (family === STREAM_IPV4) {
    return { kind: "read", octets, client: { address: body.subarray(0, 4).join("."), port: body.readUInt16BE(8) } };
  }
  const groups = Array.from({ length: 8 }, (_, at) => body.readUInt16BE(at * 2).toString(16));
  return { kind: "read", octets, client: { address: groups.join(":"), port: body.readUInt16BE(32) } };
};
