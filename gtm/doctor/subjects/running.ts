/** The GTM that runs with this configuration. */
import { runningFindings } from "#gtm/doctor/running.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const running: Subject = {
  name: "running GTM",
  look: async ({ config, isGtmAskedFor, ...context }) =>
    runningFindings({ running: await context.running(), isAskedFor: isGtmAskedFor, instance: config.instance }),
};
