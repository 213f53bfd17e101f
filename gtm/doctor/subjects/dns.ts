/** Whether the name servers answer this host, and alike. */

import { askNetwork } from "#gtm/dns-check/ask.ts";
import { dnsFindings } from "#gtm/doctor/dns.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const dns: Subject = {
  name: "dns",
  look: async ({ config, pause }) => {
    const sleep = async (): Promise<void> => {
      await pause();
      await pause();
    };
    return dnsFindings(config, { ask: askNetwork, sleep });
  },
};
