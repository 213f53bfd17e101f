/** The other ends of our connections: looked at once a connection, not once a request. */
import type { Socket } from "node:net";
import { createProxyTrust } from "#shared/client-address.ts";

export type Peer = {
  /** Whether it is a trusted proxy, so that its headers speak for others. */
  readonly isTrusted: boolean;
  /** Network of the client: CIDR, /24 or /48. @param forwardedFor heeded only where the peer is trusted; null: absent */
  readonly clientSubnet: (forwardedFor: string | null) => string;
};

/** @param trustedProxies addresses and CIDRs */
export const createPeers = (trustedProxies: readonly string[]): ((socket: Socket) => Peer) => {
  const trust = createProxyTrust(trustedProxies);
  const peers = new WeakMap<Socket, Peer>();
  return (socket) => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    // Undefined once the client is gone.
    const address = socket.remoteAddress ?? "";
    const subnet = trust.subnetOf(address, null);
    const isTrusted = trust.isTrusted(address);
    const clientSubnet = (forwardedFor: string | null): string =>
      isTrusted && forwardedFor !== null ? trust.subnetOf(address, forwardedFor) : subnet;
    const peer: Peer = { isTrusted, clientSubnet };
    peers.set(socket, peer);
    return peer;
  };
};
