/** The agents of every configured region. */
import { agentFindings } from "#gtm/doctor/agents.ts";
import { unknown } from "#gtm/doctor/finding.ts";
import { storeAheadMs } from "#gtm/doctor/store-clock.ts";
import type { Subject } from "#gtm/doctor/subject.ts";
import { VERSION } from "#gtm/version.ts";
import { OperationalError } from "#shared/errors.ts";

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
      version: VERSION,
    });
  },
};
