/** Which network a request comes from: the connection's other end, or what trusted proxies say stood before them. */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

export type ProxyTrust = {
  /** Whether this end of a connection is a trusted proxy. */
  readonly isTrusted: (remoteAddress: string) => boolean;
  /**
   * The client's network: /24, or /48 for IPv6. Walks X-Forwarded-For from its right end, past trusted proxies, and stops at
   * the first address that is not one, or at what is no address.
   *
   * @param forwardedFor the header; null: absent, or the connection's other end is not to be trusted
   */
  readonly subnetOf: (remoteAddress: string, forwardedFor: string | null) => string;
};

/** What nobody comes from; the client's place is unknown then. */
const NOWHERE = "0.0.0.0/24";
const IPV4_BITS = 24;
const IPV6_OCTETS = 6;

/** @param trustedProxies addresses and CIDRs @throws {Error} at one that is neither: the configuration's schema refuses it */
export const createProxyTrust = (trustedProxies: readonly string[]): ProxyTrust => {
  const networks = trustedProxies.map(networkOf);
  const trusts = (address: Address): boolean => networks.some((network) => isIn(address, network));

  const walk = (peer: Address, forwardedFor: string): Address => {
    const hops = forwardedFor.split(",");
    let client = peer;
    for (let at = hops.length - 1; at >= 0 && trusts(client); at--) {
      const hop = addressIn(hops[at] ?? "");
      if (hop === null) break;
      client = hop;
    }
    return client;
  };

  return {
    isTrusted: (remoteAddress) => {
      const peer = networks.length === 0 ? null : addressIn(remoteAddress);
      return peer !== null && trusts(peer);
    },
    subnetOf: (remoteAddress, forwardedFor) => {
      const peer = addressIn(remoteAddress);
      if (peer === null) return NOWHERE;
      return subnetOf(forwardedFor === null ? peer : walk(peer, forwardedFor));
    },
  };
};

const networkOf = (text: string): Network => {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
};

const isIn = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

/** "192.0.2.1", "192.0.2.1:443", "2001:db8::1", "[2001:db8::1]:443", "::ffff:192.0.2.1"; null: something else. */
const addressIn = (text: string): Address | null => {
  const bare = withoutPort(text.trim());
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare);
  // A zone is a name within one machine; process() unwraps mapped addresses.
  return ipaddr.IPv6.isValid(bare) ? ipaddr.process(bare.split("%", 1)[0] ?? bare) : null;
};

const withoutPort = (text: string): string => {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text);
  if (bracketed !== null) return bracketed[1] ?? "";
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
};

const subnetOf = (address: Address): string => {
  const octets = address.toByteArray();
  if (octets.length === 4) return `${octets.slice(0, 3).join(".")}.0/${IPV4_BITS}`;
  const network = octets.map((octet, at) => (at < IPV6_OCTETS ? octet : 0));
  return `${new ipaddr.IPv6(network).toString()}/${IPV6_OCTETS * 8}`;
};
