/** The key files. */
import { keyAgeFindings } from "#gtm/doctor/key-ages.ts";
import { keyFindings } from "#gtm/doctor/keys.ts";
import type { Subject } from "#gtm/doctor/subject.ts";
import { labelKeysOf, readableByOthers } from "#gtm/keys/key-files.ts";
import { unknownRegions, unsignedRegions } from "#gtm/keys/key-warnings.ts";
import { OperationalError } from "#shared/errors.ts";

export const keys: Subject = {
  name: "keys",
  look: async ({ config, clock, ...context }) => {
    const files = config.keys;
    const regions = config.sites.map(({ id }) => id);
    const found = context.keys();
    const isFaulty = found instanceof OperationalError;
    const standing = keyFindings({
      files,
      fault: isFaulty ? found.message : null,
      hasLabelKeys: !isFaulty && labelKeysOf(found) !== null,
      unsigned: isFaulty ? [] : unsignedRegions(found, regions),
      strange: isFaulty ? [] : unknownRegions(found, regions),
      readableByOthers: readableByOthers(files),
    });
    return isFaulty ? standing : [...standing, ...keyAgeFindings(found, clock.epochMs())];
  },
};
