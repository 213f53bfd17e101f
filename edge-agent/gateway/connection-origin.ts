/** Whose a connection is: of its other end, or of whom a balancer's PROXY header names. Looked at once a connection. */
import type { Socket } from "node:net";
import { createProxyTrust } from "#shared/client-address.ts";

export type Origin = {
  /** The client's network, /24 or /48. @param forwardedFor heeded only from trusted proxies; null: absent */
  readonly networkOf: (forwardedFor: string | null) => string;
  /** Ends TCP or TLS for others: its round trip is not a client's, and its headers speak for others. */
  readonly isBalancer: boolean;
};

export type Origins = {
  /** A balancer said whose this connection is. Forgotten when it closes. @param client null: the balancer's own */
  readonly announced: (socket: Socket, client: string | null) => void;
  /** Of this socket, or of the TLS on top of it. */
  readonly of: (socket: Socket) => Origin;
};

/** @param trustedProxies networks whose X-Forwarded-For counts */
export const createOrigins = (trustedProxies: readonly string[]): Origins => {
  const trust = createProxyTrust(trustedProxies);
  const known = new WeakMap<Socket, Origin>();
  /** By both ends: TLS on top of a socket is another object with the same ends. */
  const announced = new Map<string, string | null>();

  const found = (socket: Socket): Origin => {
    const named = announced.get(endsOf(socket));
    const address = named ?? socket.remoteAddress ?? "";
    const isTrusted = trust.isTrusted(address);
    const network = trust.subnetOf(address, null);
    return {
      networkOf: (forwardedFor) =>
        isTrusted && forwardedFor !== null ? trust.subnetOf(address, forwardedFor) : network,
      isBalancer: isTrusted || named !== undefined,
    };
  };

  return {
    announced: (socket, client) => {
      const ends = endsOf(socket);
      announced.set(ends, client);
      socket.once("close", () => announced.delete(ends));
    },
    of: (socket) => {
      const origin = known.get(socket) ?? found(socket);
      known.set(socket, origin);
      return origin;
    },
  };
};

const endsOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;
