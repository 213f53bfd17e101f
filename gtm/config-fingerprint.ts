/** The parts of a configuration that decide, or say what may be ordered, each as a fingerprint: what GTMs on one store must have alike. */
import { createHash } from "node:crypto";
import type { Labels } from "#shared/pin-token.ts";
import type { GtmConfig } from "./config.ts";

/**
 * @param labels whose identity key names conversations: GTMs that have another know nothing of each other's
 * @returns 16 characters for each part; nothing of a key can be learnt from them
 */
export const fingerprintsOf = (config: GtmConfig, labels: Labels): Readonly<Record<string, string>> => {
  const { sites, models, pools, policy, safety, dns, http, geo } = config;
  // The number that is served rises by itself where a file is changed without: the files are what must be alike.
  const zone = { ...dns.zone, soa: { ...dns.zone.soa, serial: config.given.dns.soa.serial } };
  return {
    regions: fingerprintOf(sites),
    models: fingerprintOf(models),
    pools: fingerprintOf([pools, dns.defaultPool, http.defaultPool]),
    policy: fingerprintOf(policy),
    // Decides nothing, and yet an order that one GTM refuses must not pass at the next.
    safety: fingerprintOf(safety),
    zone: fingerprintOf(zone),
    geo: fingerprintOf(geo),
    "identity key": labels.conversationIdOf("fingerprint", "identity key"),
  };
};

/** The order of keys is no difference. */
const fingerprintOf = (part: unknown): string =>
  createHash("sha256").update(JSON.stringify(part, sorted)).digest("hex").slice(0, 16);

const sorted = (_key: string, value: unknown): unknown => {
  if (value instanceof Map) return [...value].map(([key, one]) => [String(key), one]).toSorted();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
