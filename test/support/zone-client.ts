/** What a client connects with: names resolved by the GTM's own DNS, answers kept for their TTL or not at all, a private authority trusted. */
import { Resolver } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, type RequestInit, fetch as undiciFetch } from "undici";
import { lookupOf } from "#deploy/demo/lookup.ts";

export type ZoneClient = AsyncDisposable & {
  readonly agent: Agent;
  /** For SDKs. */
  readonly fetch: typeof fetch;
};

export type ZoneClientWish = {
  readonly dnsServer: string;
  readonly authority: string;
  /** Whether answers are kept for their TTL, as resolvers do; else each connection asks anew. */
  readonly keepsAnswers?: boolean;
  /** How long the way to the resolver takes, there and back; default: no time. */
  readonly lookupMs?: number;
};

const MS_PER_SECOND = 1_000;

export const openZoneClient = ({
  dnsServer,
  authority,
  keepsAnswers = false,
  lookupMs = 0,
}: ZoneClientWish): ZoneClient => {
  const resolver = new Resolver({ timeout: 2_000, tries: 4 });
  resolver.setServers([dnsServer]);
  const kept = new Map<string, { readonly addresses: readonly string[]; readonly untilMs: number }>();
  const resolve = async (name: string): Promise<readonly string[]> => {
    const known = kept.get(name);
    if (keepsAnswers && known !== undefined && performance.now() < known.untilMs) return known.addresses;
    if (lookupMs > 0) await pause(lookupMs);
    const answers = await resolver.resolve4(name, { ttl: true });
    const addresses = answers.map(({ address }) => address);
    const ttlMs = Math.min(...answers.map(({ ttl }) => ttl)) * MS_PER_SECOND;
    kept.set(name, { addresses, untilMs: performance.now() + ttlMs });
    return addresses;
  };
  const agent = new Agent({ connect: { ca: authority, lookup: lookupOf(resolve) } });
  return {
    agent,
    fetch: ((input: string, init: RequestInit) =>
      undiciFetch(input, { ...init, dispatcher: agent })) as unknown as typeof fetch,
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
};
