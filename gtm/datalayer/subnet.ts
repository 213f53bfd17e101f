/** Networks of clients as numbers: parsed from CIDR, truncated, told apart by whether they are routed on the internet. */
import ipaddr from "ipaddr.js";

export type Subnet = {
  readonly family: 4 | 6;
  /** First address: all 32 bits of IPv4, the first 48 of IPv6; those behind the prefix are 0. */
  readonly first: number;
  /** 0 to 32 or 48. */
  readonly prefixBits: number;
};

/** How much of an address is looked at: a number holds 53 bits, and behind an IPv6 /48 is one site. */
const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 48);
/** Finer than this no client is looked at, and no answer is scoped. */
export const mostPrefixBits = (family: 4 | 6): number => (family === 4 ? 24 : 48);

/**
 * IPv4 networks that are written as IPv6 (::ffff:192.0.2.0/120, RFC 4291 §2.5.5.2) are IPv4; IPv6 ones longer than /48 are
 * their /48.
 *
 * @param text CIDR, or one address
 * @returns null: it is neither
 */
export const parseSubnet = (text: string): Subnet | null => {
  const slash = text.indexOf("/");
  const address = slash === -1 ? text : text.slice(0, slash);
  const bits = slash === -1 ? null : prefixLength(text.slice(slash + 1));
  const ipv4 = ipv4Number(address);
  if (ipv4 !== null) return withBits(4, ipv4, bits ?? 32, 32);
  if (!ipaddr.IPv6.isValid(address) || address.includes("%")) return null;
  const { parts } = ipaddr.IPv6.parse(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parts;
  const isMapped = a + b + c + d + e === 0 && f === 0xffff && (bits ?? 128) >= 96;
  if (isMapped) return withBits(4, g * 0x1_0000 + h, (bits ?? 128) - 96, 32);
  return withBits(6, a * 2 ** 32 + b * 0x1_0000 + c, bits ?? 128, 128);
};

/** NaN: not a length. */
const prefixLength = (text: string): number => (/^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN);

/** Four decimals only: "10.1" and "0x7f.0.0.1" are addresses to some and typing errors to us. */
const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

const ipv4Number = (text: string): number | null => {
  const match = IPV4.exec(text);
  if (match === null) return null;
  let value = 0;
  for (let i = 1; i <= 4; i++) {
    const octet = Number(match[i]);
    if (octet > 255) return null;
    value = value * 256 + octet;
  }
  return value;
};

const withBits = (family: 4 | 6, address: number, bits: number, mostBits: number): Subnet | null =>
  bits >= 0 && bits <= mostBits ? masked(family, address, Math.min(bits, widthOf(family))) : null;

export const masked = (family: 4 | 6, address: number, prefixBits: number): Subnet => {
  const size = 2 ** (widthOf(family) - prefixBits);
  return { family, first: Math.floor(address / size) * size, prefixBits };
};

export const truncated = ({ family, first, prefixBits }: Subnet): Subnet =>
  masked(family, first, Math.min(prefixBits, mostPrefixBits(family)));

export const lastOf = ({ family, first, prefixBits }: Subnet): number =>
  first + 2 ** (widthOf(family) - prefixBits) - 1;

export const holdsAddress = (subnet: Subnet, family: 4 | 6, address: number): boolean =>
  subnet.family === family && subnet.first <= address && address <= lastOf(subnet);

/** The first address as text. */
export const firstAddressText = ({ family, first }: Subnet): string => {
  if (family === 4) return octetsOf(first).join(".");
  const groups = [Math.floor(first / 2 ** 32), Math.floor(first / 0x1_0000) % 0x1_0000, first % 0x1_0000];
  return ipaddr.fromByteArray([...groups.flatMap((group) => [group >>> 8, group & 0xff]), ...ZEROS]).toString();
};

const ZEROS: readonly number[] = Array.from({ length: 10 }, () => 0);
const octetsOf = (address: number): number[] => [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);

export const subnetText = (subnet: Subnet): string => `${firstAddressText(subnet)}/${subnet.prefixBits}`;

/** Private, loopback, link-local, carrier-grade NAT, documentation and the like have no place on the internet. */
export const isRouted = (subnet: Subnet): boolean => {
  const address =
    subnet.family === 4 ? new ipaddr.IPv4(octetsOf(subnet.first)) : ipaddr.parse(firstAddressText(subnet));
  return address.range() === "unicast";
};
