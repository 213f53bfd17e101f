/** Client subnets that say nothing about where the client is: addresses of networks behind an address translator. */
import { commonBits, MOST_BITS, type Prefix, parsePrefix } from "./prefix.ts";

/** RFC 1918, RFC 6598 (carriers), RFC 3927 and RFC 4291 (link), loopback, RFC 4193. */
const BLOCKS: readonly Prefix[] = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "127.0.0.0/8",
  "fe80::/10",
  "fc00::/7",
].map(parsePrefix);

export type PrivateScope = (subnet: Prefix) => number | null;

/**
 * For whom an answer to a private subnet holds: the whole block (RFC 7871 §10), less what the operator has located himself,
 * since a wide answer would hide the narrower one in a resolver's cache.
 *
 * @param ownSubnets CIDR notation
 * @returns bits; null where the subnet is not private
 */
export const createPrivateScope = (ownSubnets: readonly string[]): PrivateScope => {
  const own = ownSubnets.map(parsePrefix);
  return (subnet) => {
    const block = BLOCKS.find((one) => contains(one, subnet));
    if (block === undefined) return null;
    const inBlock = own.filter((one) => contains(block, one));
    const apart = inBlock.map((one) => commonBits(one, subnet) + 1);
    return Math.min(MOST_BITS[subnet.family], Math.max(block.bits, ...apart));
  };
};

const contains = (outer: Prefix, inner: Prefix): boolean =>
  outer.family === inner.family && inner.bits >= outer.bits && commonBits(outer, inner) === outer.bits;
