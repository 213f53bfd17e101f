/** Key files as `gtm keys init` makes them, so that two GTMs read one another's labels and know the agents' reports. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegionId } from "#shared/ids.ts";
import { identityKeyText, reportRingsText, ringText } from "#shared/key-file-text.ts";
import { newRing } from "#shared/key-ring.ts";
import { keyText } from "#shared/key-text.ts";

export type DemoKeys = {
  /** `keys:` of the GTMs. */
  readonly gtm: { readonly identity_file: string; readonly signing_file: string; readonly reports_file: string };
  /** `report.key_file` of the region's agent. */
  readonly agentFile: (region: RegionId) => string;
};

const KEY_OCTETS = 32;
const FIRST_ID = 0;

/** New ones for every run, gone with the folder. @param nowEpochMs when they are made */
export const writeKeys = (folder: string, regions: readonly RegionId[], nowEpochMs: number): DemoKeys => {
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const ringOf = (key: Uint8Array) => newRing(FIRST_ID, nowEpochMs, key);
  const reportKeys = regions.map((region) => ({ region, key: randomBytes(KEY_OCTETS) }));
  const reportRings = new Map(reportKeys.map(({ region, key }) => [region, ringOf(key)]));
  const agentFiles = new Map(
    reportKeys.map(({ region, key }) => [region, write(`report-${region}.key`, `${keyText(key)}\n`)]),
  );
  return {
    gtm: {
      identity_file: write("identity.key", identityKeyText(randomBytes(KEY_OCTETS))),
      signing_file: write("signing.keys", ringText(ringOf(randomBytes(KEY_OCTETS)), "signs labels and pin tokens")),
      reports_file: write("reports.keys", reportRingsText(reportRings)),
    },
    agentFile: (region) => {
      const path = agentFiles.get(region);
      if (path === undefined) throw new Error(`no report key was made for ${region}`);
      return path;
    },
  };
};
