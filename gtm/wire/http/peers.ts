/** The other ends of our connections, or whom a balancer's PROXY header names: looked at once a connection, not once a request. */
import type { Socket } from "node:net";
import { createProxyTrust } from "#shared/client-address.ts";

export type Peer = {
  /** Whether it is a trusted proxy, so that its headers speak for others. */
  readonly isTrusted: boolean;
  /** Whole, for the region alone; "": the client is gone. Never to be logged. */
  readonly address: string;
  /** Network of the client: CIDR, /24 or /48. @param forwardedFor heeded only where the peer is trusted; null: absent */
  readonly clientSubnet: (forwardedFor: string | null) => string;
};

export type Peers = {
  /** Of this socket, or of the TLS on top of it. */
  readonly of: (socket: Socket) => Peer;
  /** Whether the connection's other end, whoever it is for, is a trusted proxy. */
  readonly isProxy: (socket: Socket) => boolean;
  /** A proxy said whose this connection is. Forgotten when it closes. @param client null: its own */
  readonly announced: (socket: Socket, client: string | null) => void;
  /** From now on these are trusted; open connections are looked at again. @throws as createPeers, and nothing has changed */
  readonly trustOthers: (trustedProxies: readonly string[]) => void;
};

/** @param trustedProxies addresses and CIDRs */
export const createPeers = (trustedProxies: readonly string[]): Peers => {
  let trust = createProxyTrust(trustedProxies);
  let peers = new WeakMap<Socket, Peer>();
  /** By both ends: TLS on top of a socket is another object with the same ends. */
  const announced = new Map<string, string>();

  const found = (socket: Socket): Peer => {
    const { subnetOf } = trust;
    const named = announced.size === 0 ? undefined : announced.get(endsOf(socket));
    // Undefined once the client is gone.
    const address = named ?? socket.remoteAddress ?? "";
    const subnet = subnetOf(address, null);
    const isTrusted = trust.isTrusted(address);
    const clientSubnet = (forwardedFor: string | null): string =>
      isTrusted && forwardedFor !== null ? subnetOf(address, forwardedFor) : subnet;
    return { isTrusted, address, clientSubnet };
  };

  return {
    of: (socket) => {
      const known = peers.get(socket);
      if (known !== undefined) return known;
      const peer = found(socket);
      peers.set(socket, peer);
      return peer;
    },
    trustOthers: (others) => {
      trust = createProxyTrust(others);
      peers = new WeakMap();
    },
    isProxy: ({ remoteAddress = "" }) => trust.isTrusted(remoteAddress),
    announced: (socket, client) => {
      if (client === null) return;
      const ends = endsOf(socket);
      announced.set(ends, client);
      socket.once("close", () => announced.delete(ends));
    },
  };
};

const endsOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;
