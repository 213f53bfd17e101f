/** The data that say where clients are. */
import { geographyFindings, readGeography } from "#gtm/doctor/geography.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const geography: Subject = {
  name: "geography",
  look: async ({ config, clock }) => geographyFindings(await readGeography(config.geo, process.env), clock.epochMs()),
};
