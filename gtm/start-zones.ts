/** The zone as operators see it: its names, what the parent has to hold, and a look at what it holds. */
import { delegationForm, FORM_NAMES } from "#gtm/dns-check/delegation-forms.ts";
import { DELEGATION_TTL } from "#gtm/dns-check/delegation-records.ts";
import { DNS_PORT, type ServerAddress } from "#gtm/dns-check/server-address.ts";
import type { DelegationChecked, ZonesPort } from "#gtm/wire/admin/zones-port.ts";
import { zoneListing } from "#gtm/wire/dns/zone-listing.ts";
import type { Clock } from "#shared/clock.ts";
import type { GtmConfig } from "./config.ts";

export type ZonesOptions = {
  /** What stands now. */
  readonly config: () => Pick<GtmConfig, "dns" | "http" | "pools" | "models" | "sites">;
  readonly clock: Clock;
  /** Of the parent zone; null: found by this host's resolver. */
  readonly parents?: readonly ServerAddress[] | null;
  /** Of the zone's own servers; others than 53 are for labs. */
  readonly port?: number;
};

/** Of the whole check. */
const DEADLINE_MS = 14_000;
/** Who asks again sooner gets what was found before: checks ask strangers' servers. */
const LEAST_BETWEEN_MS = 5_000;

export const createZones = ({ config, clock, parents = null, port = DNS_PORT }: ZonesOptions): ZonesPort => {
  let newest: DelegationChecked | null = null;
  /** On the instance's monotonic clock. */
  let endedAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<DelegationChecked> | null = null;
  const isOurs = (zone: string): boolean => zone === config().dns.zone.name;

  const check = async (): Promise<DelegationChecked> => {
    const { dns, pools } = config();
    const [atMs, fromMs] = [clock.epochMs(), clock.monotonicMs()];
    const examined = await lookAt({ dns, pools }, { parents, port });
    const findings = examined.flatMap((one) => one.findings.map((finding) => ({ subject: one.subject, ...finding })));
    return { atMs, tookMs: Math.round(clock.monotonicMs() - fromMs), findings };
  };
  return {
    zones: () => {
      const { name, soa, ns } = config().dns.zone;
      return [{ name, serial: soa.serial, rname: soa.rname, nameServers: ns }];
    },
    records: (zone) => {
      if (!isOurs(zone)) return null;
      const { dns, http, pools, models, sites } = config();
      const { zone: contents, defaultPool, whyAllow } = dns;
      const hasWhy = whyAllow.length > 0;
      return zoneListing({ zone: contents, defaultPool, pools, models, regions: sites, front: http.addresses, hasWhy });
    },
    delegation: (zone) =>
      isOurs(zone) ? FORM_NAMES.map((form) => delegationForm(form, config().dns.zone, DELEGATION_TTL.usual)) : null,
    checked: (zone) => (isOurs(zone) ? newest : null),
    isChecking: (zone) => isOurs(zone) && running !== null,
    check: async () => {
      if (running !== null) return running;
      if (newest !== null && clock.monotonicMs() - endedAtMs < LEAST_BETWEEN_MS) return newest;
      running = check();
      try {
        newest = await running;
        return newest;
      } finally {
        running = null;
        endedAtMs = clock.monotonicMs();
      }
    },
  };
};

type Servers = { readonly parents: readonly ServerAddress[] | null; readonly port: number };

const lookAt = async ({ dns, pools }: Pick<GtmConfig, "dns" | "pools">, { parents, port }: Servers) => {
  // Only who checks waits until the codec is read.
  const [{ checkDelegation }, { askNetwork }, { systemResolver }, { deadlineOf }] = await Promise.all([
    import("#gtm/dns-check/delegation-check.ts"),
    import("#gtm/dns-check/ask.ts"),
    import("#gtm/dns-check/resolver.ts"),
    import("#gtm/dns-check/within.ts"),
  ]);
  using deadline = deadlineOf(DEADLINE_MS);
  const steered = pools.find(({ answer }) => answer === "regions") ?? dns.defaultPool;
  return await checkDelegation(
    { zone: dns.zone, steeredName: `${steered.name}.${dns.zone.name}`, parents, port },
    { ask: deadline.ask(askNetwork), resolver: deadline.resolver(systemResolver()) },
  );
};
