/** The host's own resolver: who serves the zone above, and where name servers outside the zone are. */
import { Resolver } from "node:dns/promises";
import { canonicalAddress } from "./server-address.ts";

export type Found<T> =
  | { readonly kind: "found"; readonly value: T }
  /** The name, or what was asked of it, does not exist. */
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

/** Nothing rejects. */
export type NameResolver = {
  readonly nameServers: (zone: string) => Promise<Found<readonly string[]>>;
  /** IPv4 and IPv6; `alias` is what the name is an alias of. */
  readonly addresses: (
    host: string,
  ) => Promise<
    Found<{ readonly A: readonly string[]; readonly AAAA: readonly string[]; readonly alias: string | null }>
  >;
};

/** Of each try, of which there are two. */
const TRY_MS = 1_000;

export const systemResolver = (): NameResolver => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 });
  return {
    nameServers: (zone) => found(resolver.resolveNs(zone)),
    addresses: async (host) => {
      const [ipv4, ipv6, cname] = await Promise.all([
        found(resolver.resolve4(host)),
        found(resolver.resolve6(host)),
        found(resolver.resolveCname(host)),
      ]);
      for (const one of [ipv4, ipv6]) if (one.kind === "unknown") return one;
      if (ipv4.kind !== "found" && ipv6.kind !== "found") return { kind: "none" };
      const of = (one: Found<readonly string[]>): readonly string[] =>
        one.kind === "found" ? one.value.map(canonicalAddress).toSorted() : [];
      return { kind: "found", value: { A: of(ipv4), AAAA: of(ipv6), alias: of(cname)[0] ?? null } };
    },
  };
};

const NONE: ReadonlySet<string> = new Set(["ENODATA", "ENOTFOUND"]);

const found = async <T>(asking: Promise<T>): Promise<Found<T>> => {
  try {
    return { kind: "found", value: await asking };
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : String(fault);
    return NONE.has(code) ? { kind: "none" } : { kind: "unknown", why: `the resolver of this host says ${code}` };
  }
};
