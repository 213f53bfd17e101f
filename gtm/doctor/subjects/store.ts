/** The store itself, and the way to it. */
import { ok } from "#gtm/doctor/finding.ts";
import { accessFindings } from "#gtm/doctor/store-access.ts";
import { clusterFindings } from "#gtm/doctor/store-cluster.ts";
import { durabilityFindings } from "#gtm/doctor/store-durability.ts";
import { memoryFindings } from "#gtm/doctor/store-memory.ts";
import { reachFindings } from "#gtm/doctor/store-reach.ts";
import { sentinelFindings } from "#gtm/doctor/store-sentinels.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const store: Subject = {
  name: "store",
  look: async (context) => {
    const facts = await context.storeFacts();
    if (facts.kind === "memory") {
      return [
        ok("store-private", "store.url is memory: nobody outside the GTM's process shares it, and it ends with it."),
      ];
    }
    return [
      ...reachFindings(facts),
      ...sentinelFindings(facts.sentinels),
      ...clusterFindings(facts),
      ...accessFindings(facts),
      ...memoryFindings(facts),
      ...durabilityFindings(facts),
    ];
  },
};
