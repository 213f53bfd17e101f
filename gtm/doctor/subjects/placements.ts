/** Models, pools and regions: whether they meet. */
import { placementFindings } from "#gtm/doctor/placements.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const placements: Subject = {
  name: "models and pools",
  look: async ({ config, agents }) =>
    placementFindings({
      models: config.models,
      pools: config.pools,
      regions: config.sites.map(({ id }) => id),
      agents: await agents(),
    }),
};
