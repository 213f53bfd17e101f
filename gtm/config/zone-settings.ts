/** The zone as the configuration describes it. */
import { SOA_TIMERS, type Zone } from "#gtm/domain/zone.ts";
import { recordOf } from "./record-settings.ts";
import type { GtmSettings } from "./schema.ts";

export const zoneOf = ({ dns }: Pick<GtmSettings, "dns">): Zone => ({
  name: dns.zone,
  ns: dns.ns.map(({ name, a, aaaa }) => ({ name, ipv4: a, ipv6: aaaa })),
  soa: { ...dns.soa, ...SOA_TIMERS },
  apexPool: dns.apex_addresses ? dns.default_pool : null,
  records: dns.records.map(recordOf),
});
