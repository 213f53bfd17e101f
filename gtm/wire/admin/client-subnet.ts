/** From what a person types to the network that steering looks at: never an address. */
import ipaddr from "ipaddr.js";

const MOST_BITS = { ipv4: 24, ipv6: 48 } as const;

/**
 * "203.0.113.7" → "203.0.113.0/24"; a shorter prefix stays as it is; an IPv4 address mapped into IPv6 counts as IPv4.
 *
 * @returns null: neither an address nor a network
 */
export const clientSubnetOf = (text: string): string | null => {
  const [host = "", bits, ...rest] = text.split("/");
  if (rest.length > 0 || !isAddress(host) || (bits !== undefined && !/^[0-9]{1,3}$/.test(bits))) return null;
  const address = ipaddr.process(host);
  const kind = address.kind();
  // A mapped prefix counts from the 96 bits in front.
  const offset = kind === "ipv4" && host.includes(":") ? 96 : 0;
  const given = bits === undefined ? MOST_BITS[kind] : Number(bits) - offset;
  if (given < 0 || given > (kind === "ipv4" ? 32 : 128)) return null;
  const prefix = Math.min(given, MOST_BITS[kind]);
  return `${networkOf(address, prefix)}/${prefix}`;
};

const networkOf = (address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string => {
  const cidr = `${address.toString()}/${prefix}`;
  return address.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(cidr).toString();
};

/** The package also takes "1", "0x7f.1" and zone ids, which people never mean. */
const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (/^[0-9a-fA-F:.]+$/.test(text) && ipaddr.IPv6.isValid(text));
