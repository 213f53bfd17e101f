/** struct sockaddr_in and sockaddr_in6 of Linux, as ip(7) and ipv6(7) lay them out: written for a call, read after one. */
import { readAddress } from "./peer-address.ts";

/** Of the longer one, sockaddr_in6. */
export const SOCKADDR_OCTETS = 28;
const SOCKADDR_IN_OCTETS = 16;

const AF_INET = 2;
const AF_INET6 = 10;

/**
 * @param into 28 octets
 * @param scopeOf the index of an interface by name, 0 for ""; of a zone such as fe80::1%eth0
 * @returns how many octets are the address; 0: the text is none
 */
export const writeSocketAddress = (
  into: Buffer,
  { address, port }: { readonly address: string; readonly port: number },
  scopeOf: (name: string) => number,
): number => {
  into.fill(0, 0, SOCKADDR_OCTETS);
  into.writeUInt16BE(port, 2);
  const isIpv6 = address.includes(":");
  const octets = new Uint8Array(16);
  const length = readAddress(address, octets);
  if (length === 0) return 0;
  if (!isIpv6) {
    into.writeUInt16LE(AF_INET, 0);
    into.set(octets.subarray(0, 4), 4);
    return SOCKADDR_IN_OCTETS;
  }
  into.writeUInt16LE(AF_INET6, 0);
  if (length === 4) into.set([0xff, 0xff, ...octets.subarray(0, 4)], 18);
  else into.set(octets, 8);
  into.writeUInt32LE(scopeOf(address.split("%", 2)[1] ?? ""), 24);
  return SOCKADDR_OCTETS;
};

/** Network byte order. */
export const portOf = (memory: Uint8Array, at: number): number => ((memory[at + 2] ?? 0) << 8) | (memory[at + 3] ?? 0);

/** @returns the text without a zone, as Node writes it; "": neither IPv4 nor IPv6 */
export const addressTextOf = (memory: Uint8Array, at: number): string => {
  const family = memory[at];
  if (family === AF_INET) {
    return `${memory[at + 4]}.${memory[at + 5]}.${memory[at + 6]}.${memory[at + 7]}`;
  }
  if (family !== AF_INET6) return "";
  let text = "";
  for (let i = 8; i < 24; i += 2) {
    text += `${i === 8 ? "" : ":"}${(((memory[at + i] ?? 0) << 8) | (memory[at + i + 1] ?? 0)).toString(16)}`;
  }
  return text;
};
