/** Key files as `gtm keys init` makes them, so that two GTMs read one another's labels and know the agents' reports. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RegionId } from "#shared/ids.ts";
import { identityKeyText, reportRingsText, ringText } from "#shared/key-file-text.ts";
import { newRing } from "#shared/key-ring.ts";
import { keyText } from "#shared/key-text.ts";
import { regionTicketKeysText, ticketRingOf } from "#shared/ticket-keys.ts";

export type DemoKeys = {
  /** `keys:` of the GTMs. */
  readonly gtm: {
    readonly identity_file: string;
    readonly signing_file: string;
    readonly reports_file: string;
    readonly ticket_file: string;
  };
  readonly of: (region: RegionId) => RegionKeys;
};

export type RegionKeys = {
  /** `report.key_file` of the region's agent. */
  readonly reportFile: string;
  /** `keys:` of the region's gateway. */
  readonly gateway: {
    readonly identity_file: string;
    readonly signing_file: string;
    readonly ticket_file: string;
    readonly report_file: string;
  };
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
  const ticketRing = ringOf(randomBytes(KEY_OCTETS));
  const labels = {
    identity_file: write("identity.key", identityKeyText(randomBytes(KEY_OCTETS))),
    signing_file: write("signing.keys", ringText(ringOf(randomBytes(KEY_OCTETS)), "signs labels and pin tokens")),
  };
  const byRegion = new Map(
    reportKeys.map(({ region, key }): readonly [RegionId, RegionKeys] => {
      const tickets = regionTicketKeysText(ticketRingOf(ticketRing, region), region);
      const reportFile = write(`report-${region}.key`, `${keyText(key)}\n`);
      return [
        region,
        {
          reportFile,
          gateway: { ...labels, ticket_file: write(`ticket-${region}.keys`, tickets), report_file: reportFile },
        },
      ];
    }),
  );
  return {
    gtm: {
      ...labels,
      reports_file: write(
        "reports.keys",
        reportRingsText(new Map(reportKeys.map(({ region, key }) => [region, ringOf(key)]))),
      ),
      ticket_file: write("ticket.keys", ringText(ticketRing, "seals tickets")),
    },
    of: (region) => {
      const keys = byRegion.get(region);
      if (keys === undefined) throw new Error(`no keys were made for ${region}`);
      return keys;
    },
  };
};
