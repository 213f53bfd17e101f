/** The agents of every configured region. */
import { agentFindings } from "#gtm/doctor/agents.ts";
import { unknown } from "#gtm/doctor/finding.ts";
import type { Subject } from "#gtm/doctor/subject.ts";
import { OperationalError } from "#shared/errors.ts";
import type { StoreFacts } from "#shared/store-redis-facts.ts";

export const agents: Subject = {
  name: "agents",
  look: async ({ config, clock, ...context }) => {
    const regions = await context.agents();
    if (typeof regions === "string") return [unknown("agents", `What the agents report is not known: ${regions}.`)];
    const keys = context.keys();
    const aheadMs = storeAheadMs(await context.storeFacts());
    return agentFindings({
      regions,
      signing: keys instanceof OperationalError ? null : new Set(keys.reports?.keys()),
      staleAfterMs: config.policy.staleAfterMs,
      expiredAfterMs: config.policy.expiredAfterMs,
      storeNowMs: aheadMs === null ? null : clock.epochMs() + aheadMs,
    });
  },
};

/** Of a Cluster's servers, whose clocks are compared elsewhere, the first. */
const storeAheadMs = (facts: StoreFacts): number | null =>
  facts.kind === "memory" ? null : (facts.servers.find(({ clock }) => clock !== null)?.clock?.aheadMs ?? null);
