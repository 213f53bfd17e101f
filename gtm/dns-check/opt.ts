/** The OPT record of a query and of its reply (RFC 6891), on raw octets: dns2 keeps of it what it knows. */
import { isIPv6 } from "node:net";

export type OptWish = {
  readonly version: number;
  /** "192.0.2.0/24", "2001:db8::/48": a multiple of eight bits. null: none is sent. */
  readonly subnet: string | null;
  /** Whether an option is sent that no server knows. */
  readonly withUnknownOption: boolean;
};

/** What every query is sent with that wants nothing more of EDNS. */
export const PLAIN_OPT: OptWish = { version: 0, subnet: null, withUnknownOption: false };

export type OptReply = {
  readonly version: number;
  /** Octets of datagram that the server is willing to receive. */
  readonly payload: number;
  /** The upper eight bits of the code. */
  readonly extendedRcode: number;
  readonly optionCodes: readonly number[];
  /** null: the reply has none. */
  readonly subnet: { readonly sourceBits: number; readonly scopeBits: number } | null;
};

/** What is certain to arrive in one piece (RFC 9715). */
export const PAYLOAD = 1_232;
/** Of those for experiments (RFC 6891 §9). */
export const UNKNOWN_OPTION = 65_001;
const SUBNET_OPTION = 8;
const OPT_TYPE = 41;

export const encodeOpt = ({ version, subnet, withUnknownOption }: OptWish): Buffer => {
  const options = Buffer.concat([
    subnet === null ? Buffer.alloc(0) : option(SUBNET_OPTION, subnetOctets(subnet)),
    withUnknownOption ? option(UNKNOWN_OPTION, Buffer.from("gtm")) : Buffer.alloc(0),
  ]);
  const fixed = Buffer.alloc(11);
  fixed.writeUInt16BE(OPT_TYPE, 1);
  fixed.writeUInt16BE(PAYLOAD, 3);
  fixed.writeUInt8(version, 6);
  fixed.writeUInt16BE(options.length, 9);
  return Buffer.concat([fixed, options]);
};

const option = (code: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(code, 0);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
};

/** RFC 7871 §6: family, source, scope 0, and as many octets as the source needs. */
const subnetOctets = (subnet: string): Buffer => {
  const [address = "", bits = "0"] = subnet.split("/");
  const head = Buffer.from([0, isIPv6(address) ? 2 : 1, Number(bits), 0]);
  return Buffer.concat([head, addressOctets(address).subarray(0, Math.ceil(Number(bits) / 8))]);
};

const addressOctets = (address: string): Buffer => {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): readonly string[] => text.split(":").filter((group) => group !== "");
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
};

/**
 * @param octets a message that was read without a fault
 * @returns null when it has no OPT
 */
export const readOpt = (octets: Buffer): OptReply | null => {
  const count = (at: number): number => octets.readUInt16BE(at);
  let at = 12;
  for (let questions = count(4); questions > 0; questions -= 1) at = behindName(octets, at) + 4;
  for (let records = count(6) + count(8) + count(10); records > 0; records -= 1) {
    at = behindName(octets, at);
    const length = octets.readUInt16BE(at + 8);
    const data = octets.subarray(at + 10, at + 10 + length);
    if (octets.readUInt16BE(at) === OPT_TYPE) return optOf(octets.subarray(at, at + 10), data);
    at += 10 + length;
  }
  return null;
};

const behindName = (octets: Buffer, from: number): number => {
  let at = from;
  for (;;) {
    const length = octets.readUInt8(at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
  }
};

const optOf = (fixed: Buffer, data: Buffer): OptReply => {
  const optionCodes: number[] = [];
  let subnet: OptReply["subnet"] = null;
  for (let at = 0; at + 4 <= data.length; at += 4 + data.readUInt16BE(at + 2)) {
    const code = data.readUInt16BE(at);
    optionCodes.push(code);
    const isWhole = data.readUInt16BE(at + 2) >= 4 && at + 8 <= data.length;
    if (code === SUBNET_OPTION && isWhole)
      subnet = { sourceBits: data.readUInt8(at + 6), scopeBits: data.readUInt8(at + 7) };
  }
  return {
    version: fixed.readUInt8(5),
    payload: fixed.readUInt16BE(2),
    extendedRcode: fixed.readUInt8(4),
    ...{ optionCodes, subnet },
  };
};
