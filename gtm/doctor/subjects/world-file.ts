/** What a start without the store would rest on. */
import type { Subject } from "#gtm/doctor/subject.ts";
import { worldFileFindings } from "#gtm/doctor/world-file.ts";

export const worldFile: Subject = {
  name: "world file",
  look: async ({ config, clock, ...context }) =>
    worldFileFindings({
      facts: await context.worldFile(),
      isShared: config.store.url !== "memory:",
      nowEpochMs: clock.epochMs(),
    }),
};
