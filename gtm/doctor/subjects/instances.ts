/** The GTMs that share the store. */

import type { GtmConfig } from "#gtm/config.ts";
import { fingerprintsOf } from "#gtm/config-fingerprint.ts";
import { unknown } from "#gtm/doctor/finding.ts";
import { readInstanceFacts } from "#gtm/doctor/instance-facts.ts";
import { instanceFindings } from "#gtm/doctor/instances.ts";
import { storeAheadMs } from "#gtm/doctor/store-clock.ts";
import type { Subject } from "#gtm/doctor/subject.ts";
import { type Keys, labelKeysOf } from "#gtm/keys/key-files.ts";
import { OperationalError } from "#shared/errors.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";

/** Over the two seconds in which GTMs may differ. */
const TIMES = 10;

export const instances: Subject = {
  name: "instances",
  look: async ({ config, clock, keys, pause, ...context }) => {
    const store = await context.store();
    if (typeof store === "string") return [unknown("instances", `Which GTMs use this store is not known: ${store}.`)];
    const aheadMs = storeAheadMs(await context.storeFacts());
    const listReadAtMs = aheadMs === null ? null : clock.epochMs() + aheadMs;
    return instanceFindings({
      listReadAtMs,
      facts: await readInstanceFacts(store, { times: TIMES, pause }),
      instance: config.instance,
      config: fingerprints(config, keys()),
      nowEpochMs: clock.epochMs(),
    });
  },
};

/** Of keys that each process makes for itself nothing can be compared. */
const fingerprints = (config: GtmConfig, keys: Keys | OperationalError): Readonly<Record<string, string>> => {
  const fromFiles = keys instanceof OperationalError ? null : labelKeysOf(keys);
  const all = fingerprintsOf(config, createLabels(fromFiles ?? ephemeralLabelKeys()));
  return Object.fromEntries(Object.entries(all).filter(([part]) => fromFiles !== null || part !== "identity key"));
};
