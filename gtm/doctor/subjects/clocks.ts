/** This host's clock and the store's. */
import { clockFindings } from "#gtm/doctor/store-clock.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const clocks: Subject = {
  name: "clocks",
  look: async (context) => {
    const facts = await context.storeFacts();
    return facts.kind === "memory" ? [] : clockFindings(facts);
  },
};
