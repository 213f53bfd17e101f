/** What answers at the addresses of the configuration, from this host. */
import { connect, createServer, isIPv6 } from "node:net";
import { type Ask, type Asked, askWhole } from "#gtm/dns-check/ask.ts";
import type { QueryType, Reply } from "#gtm/dns-check/message.ts";
import { PLAIN_OPT } from "#gtm/dns-check/opt.ts";
import { type ServerAddress, serverText } from "#gtm/dns-check/server-address.ts";

/** The largest answer of the zone that is the same for everybody; null: none is over 512 octets. */
export type LargeName = { readonly name: string; readonly type: QueryType } | null;

export type DnsListenerFact = {
  /** "127.0.0.1 port 53" */
  readonly place: string;
  /** SOA of the zone, with EDNS. */
  readonly udp: Asked;
  readonly tcp: Asked;
  /** What is too large for a datagram without EDNS; null: there is none. */
  readonly large: { readonly cut: Asked; readonly whole: Asked } | null;
};

export const readDnsListener = async (
  listen: ServerAddress,
  { zone, large }: { readonly zone: string; readonly large: LargeName },
  ask: Ask,
): Promise<DnsListenerFact> => {
  const at = { address: reachable(listen.address), port: listen.port };
  const soa = { name: zone, type: "SOA", opt: PLAIN_OPT } as const;
  const [udp, tcp] = await Promise.all([ask(at, soa, "udp"), ask(at, soa, "tcp")]);
  const largest = large === null || udp.kind === "failed" ? null : { ...large, opt: null };
  return {
    place: serverText(at),
    udp,
    tcp,
    large: largest === null ? null : { cut: await ask(at, largest, "udp"), whole: await askWhole(ask, at, largest) },
  };
};

export const isCut = (asked: Asked): asked is { readonly kind: "answered"; readonly reply: Reply } =>
  asked.kind === "answered" && asked.reply.isTruncated;

/** How this host reaches what listens on every address. */
export const reachable = (address: string): string =>
  address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;

/** `refused`: nobody listens. `taken`: somebody does. `unusable`: this user, or this host, may not listen there. */
export type PortState =
  | { readonly kind: "refused" | "taken" | "silent" }
  | { readonly kind: "unusable"; readonly why: string };

export type PortFact = { readonly what: string; readonly place: string; readonly state: PortState };

const CONNECT_MS = 1_500;

/** Where nobody listens it is tried whether one could, for a moment. */
export const readPort = async (what: string, listen: ServerAddress): Promise<PortFact> => {
  const place = `${isIPv6(listen.address) ? `[${listen.address}]` : listen.address}:${listen.port}`;
  const found = await knock({ address: reachable(listen.address), port: listen.port });
  if (found !== "refused") return { what, place, state: { kind: found } };
  const why = await whyNotListen(listen);
  return { what, place, state: why === null ? { kind: "refused" } : { kind: "unusable", why } };
};

const knock = ({ address, port }: ServerAddress): Promise<"refused" | "taken" | "silent"> => {
  const { promise, resolve } = Promise.withResolvers<"refused" | "taken" | "silent">();
  const socket = connect({ host: address, port }, () => resolve("taken"));
  socket.on("error", () => resolve("refused"));
  const timer = setTimeout(() => resolve("silent"), CONNECT_MS);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
};

/** @returns null: one could */
const whyNotListen = ({ address, port }: ServerAddress): Promise<string | null> => {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const server = createServer();
  server.on("error", (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message));
  server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(null)));
  return promise;
};
