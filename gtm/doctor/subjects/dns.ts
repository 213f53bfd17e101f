/** Whether the name servers answer this host, and alike. */

import { askNetwork } from "#gtm/dns-check/ask.ts";
import { instanceDnsFindings } from "#gtm/dns-check/instance-dns-findings.ts";
import { checkInstances } from "#gtm/dns-check/instances-check.ts";
import { asSubnet, questionsOf, USUAL_SUBNETS } from "#gtm/dns-check/questions.ts";
import { DNS_PORT, serverText } from "#gtm/dns-check/server-address.ts";
import { listed, unknown } from "#gtm/doctor/finding.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const dns: Subject = {
  name: "dns",
  look: async ({ config, pause }) => {
    const { zone, defaultPool } = config.dns;
    const servers = zone.ns.flatMap(({ ipv4, ipv6 }) =>
      [...ipv4, ...ipv6].map((address) => ({ address, port: DNS_PORT })),
    );
    const subnet = config.geo.static[0]?.cidr ?? USUAL_SUBNETS[0] ?? "";
    // A few: what there is time for. `gtm dns check` asks them all.
    const questions = questionsOf({
      ...{ zone: zone.name, pools: [defaultPool], models: [], regions: [] },
      subnets: [asSubnet(subnet)],
    });
    const sleep = async (): Promise<void> => {
      await pause();
      await pause();
    };
    const checked = await checkInstances(servers, questions, { ask: askNetwork, sleep });
    if (checked.able.length > 0) return instanceDnsFindings(checked);
    const why = [...new Set(checked.unable.map((one) => one.why))].join("; ");
    // Before the first start, and on a host that may not ask them, that is as it should be.
    const what = `No name server answers this host with authority: ${listed(servers.map(serverText))} (${why}).`;
    return [unknown("dns-away", what, "Ask from elsewhere: gtm zones delegation --check --config FILE.")];
  },
};
