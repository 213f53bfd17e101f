/** What the name servers of the configuration answer to a few questions, from this host. */
import type { GtmConfig } from "#gtm/config.ts";
import { instanceDnsFindings } from "#gtm/dns-check/instance-dns-findings.ts";
import { checkInstances, type InstancesPorts } from "#gtm/dns-check/instances-check.ts";
import { asSubnet, questionsOf, USUAL_SUBNETS } from "#gtm/dns-check/questions.ts";
import { DNS_PORT, serverText } from "#gtm/dns-check/server-address.ts";
import { type Finding, listed, unknown } from "./finding.ts";

/** As many as there is time for: `gtm dns check` asks them all. */
export const dnsFindings = async (
  { dns, geo }: Pick<GtmConfig, "dns" | "geo">,
  ports: InstancesPorts,
): Promise<readonly Finding[]> => {
  const { zone, defaultPool } = dns;
  const servers = zone.ns.flatMap(({ ipv4, ipv6 }) =>
    [...ipv4, ...ipv6].map((address) => ({ address, port: DNS_PORT })),
  );
  if (servers.length === 0) {
    return [unknown("dns-away", "The name servers are outside the zone, and dns.ns has no addresses of them.")];
  }
  const subnet = geo.static[0]?.cidr ?? USUAL_SUBNETS[0] ?? "";
  const pools = [defaultPool];
  const subnets = [asSubnet(subnet)];
  const questions = questionsOf({ zone: zone.name, pools, models: [], regions: [], records: [], subnets });
  const checked = await checkInstances(servers, questions, ports);
  if (checked.able.length > 0) return instanceDnsFindings(checked);
  const why = [...new Set(checked.unable.map((one) => one.why))].join("; ");
  // Before the first start, and on a host that may not ask them, that is as it should be.
  const what = `No name server answers this host with authority: ${listed(servers.map(serverText))} (${why}).`;
  return [unknown("dns-away", what, "Ask from elsewhere: gtm zones delegation --check --config FILE.")];
};
