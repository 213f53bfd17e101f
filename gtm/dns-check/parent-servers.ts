/** Finds the servers of the zone above, by the host's resolver. */
import type { NameResolver } from "./resolver.ts";
import { DNS_PORT, type ServerAddress } from "./server-address.ts";

export type ParentServers =
  | { readonly kind: "found"; readonly zone: string; readonly servers: readonly ServerAddress[] }
  | { readonly kind: "unknown"; readonly why: string };

/** Thirteen names with two families are more than anybody wants to wait for. */
const MOST = 8;

/** The nearest name above that has name servers: a zone need not be cut at every dot. */
export const findParentServers = async (zone: string, resolver: NameResolver): Promise<ParentServers> => {
  for (let name = above(zone); name !== ""; name = above(name)) {
    const names = await resolver.nameServers(name);
    if (names.kind === "unknown") return { kind: "unknown", why: `who serves ${name} is not known: ${names.why}` };
    if (names.kind === "found" && names.value.length > 0) return serversOf(name, names.value, resolver);
  }
  return { kind: "unknown", why: `no zone above ${zone} is known to the resolver of this host` };
};

const above = (name: string): string => (name.includes(".") ? name.slice(name.indexOf(".") + 1) : "");

const serversOf = async (zone: string, names: readonly string[], resolver: NameResolver): Promise<ParentServers> => {
  const found = await Promise.all(names.map((name) => resolver.addresses(name)));
  const addresses = found.flatMap((one) => (one.kind === "found" ? [...one.value.A, ...one.value.AAAA] : []));
  if (addresses.length === 0) return { kind: "unknown", why: `the name servers of ${zone} have no addresses` };
  return { kind: "found", zone, servers: addresses.slice(0, MOST).map((address) => ({ address, port: DNS_PORT })) };
};
