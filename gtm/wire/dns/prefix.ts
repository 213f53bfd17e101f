/** Networks as numbers: what a client's address or subnet is truncated to before anybody sees it. */

/** The longest prefixes that steering looks at; answers are scoped no finer. */
export const MOST_BITS = { 4: 24, 6: 48 } as const;

export type Prefix = {
  readonly family: 4 | 6;
  /** The first 24 bits of an IPv4 address, the first 48 of an IPv6 one; those behind `bits` are 0. */
  readonly value: number;
  /** 0 to 24 or 48. */
  readonly bits: number;
};

/**
 * One number a network, whatever its family and length: a 1 in front of its bits, below zero for IPv6. Small integers for
 * IPv4, which maps like best.
 */
export const networkKey = (family: 4 | 6, value: number, bits: number): number =>
  family === 4
    ? (1 << bits) | (value >>> (MOST_BITS[4] - bits))
    : -(2 ** bits + Math.floor(value / 2 ** (MOST_BITS[6] - bits)));

/** The network that has this key. */
export const networkOf = (key: number): Prefix => {
  const family = key > 0 ? 4 : 6;
  let bits = 0;
  while (2 ** (bits + 1) <= Math.abs(key)) bits += 1;
  return { family, value: (Math.abs(key) - 2 ** bits) * 2 ** (MOST_BITS[family] - bits), bits };
};

/** Of the network that a socket's peer lies in. */
export const sourceKey = (address: string): number => {
  const value = ipv4Value(address);
  if (!Number.isNaN(value)) return networkKey(4, value, MOST_BITS[4]);
  const source = sourcePrefix(address);
  return networkKey(source.family, source.value, source.bits);
};

/** CIDR notation. */
export const prefixText = ({ family, value, bits }: Prefix): string => {
  if (family === 4) return `${value >>> 16}.${(value >>> 8) & 0xff}.${value & 0xff}.0/${bits}`;
  const groups = [Math.floor(value / 2 ** 32), Math.floor(value / 2 ** 16) % 2 ** 16, value % 2 ** 16];
  return `${groups.map((group) => group.toString(16)).join(":")}::/${bits}`;
};

/** The first 24 bits of dotted decimals; NaN when the text is no IPv4 address. No string is made: every datagram comes here. */
export const ipv4Value = (address: string): number => {
  let value = 0;
  let octet = 0;
  let dots = 0;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    if (code === 0x2e) {
      if (dots < 3) value = value * 256 + octet;
      octet = 0;
      dots += 1;
    } else if (code >= 0x30 && code <= 0x39) octet = octet * 10 + code - 0x30;
    else return Number.NaN;
  }
  return dots === 3 ? value : Number.NaN;
};

/** The network that a socket's peer lies in; an IPv4 address that came through an IPv6 socket counts as what it is. */
export const sourcePrefix = (address: string): Prefix => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const value = ipv4Value(mapped ?? address);
  if (!Number.isNaN(value)) return { family: 4, value, bits: MOST_BITS[4] };
  return { family: 6, value: ipv6Value(address), bits: MOST_BITS[6] };
};

/** The first 48 bits, as far as the text goes; a zone index says nothing about the network. */
const ipv6Value = (address: string): number => {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0);
  const [a = 0, b = 0, c = 0] = [...before, ...zeros, ...after];
  return a * 2 ** 32 + b * 2 ** 16 + c;
};

const groupsOf = (text: string): readonly number[] =>
  text === ""
    ? []
    : text.split(":").flatMap((group) => (group.includes(".") ? [0, 0] : [Number.parseInt(group, 16) || 0]));

/** @throws {Error} for what is no CIDR notation: the configuration's checks refuse it, so this is a bug */
export const parsePrefix = (cidr: string): Prefix => {
  const [address = "", length = ""] = cidr.split("/");
  const { family, value } = sourcePrefix(address);
  const most = MOST_BITS[family];
  const bits = Math.min(Number(length), most);
  if (!/^\d+$/.test(length) || !/[.:]/.test(address)) throw new Error(`"${cidr}" is no network`);
  return { family, value: truncated(value, bits, most), bits };
};

export const truncated = (value: number, bits: number, mostBits: number): number => {
  const unit = 2 ** (mostBits - bits);
  return Math.floor(value / unit) * unit;
};

/** How many leading bits two prefixes of one family share; at most the shorter's length. */
export const commonBits = (a: Prefix, b: Prefix): number => {
  const most = MOST_BITS[a.family];
  let bits = Math.min(a.bits, b.bits);
  while (bits > 0 && truncated(a.value, bits, most) !== truncated(b.value, bits, most)) bits -= 1;
  return bits;
};
