/** Overrides as a person reads them. */
import { kindText, touchedText } from "#gtm/wire/admin/override-kind.ts";
import type { OverrideView } from "#gtm/wire/admin/override-view.ts";
import type { Look } from "./fitted.ts";
import { age, untilText } from "./quantity.ts";
import { table } from "./table.ts";

export const overrideTable = (items: readonly OverrideView[], look: Look): string =>
  table(
    [
      { header: "OVERRIDE" },
      { header: "KIND" },
      { header: "REGION", canShorten: true },
      { header: "POOL", leave: 3 },
      { header: "MODEL", canShorten: true },
      { header: "TENANT", canShorten: true },
      { header: "LEFT", align: "right" },
      { header: "LAST MINUTE", leave: 1 },
      { header: "BY", leave: 2 },
      { header: "WHY", canShorten: true },
    ],
    items.map((one) => [
      ...[one.id, kindText(one), one.region, one.pool, one.model, one.tenant],
      ...[age(one.expiresInMs), touchedText(one), one.actor, one.comment],
    ]),
    look,
  );

export const overrideLine = (one: OverrideView): string =>
  `${one.id}: ${kindText(one)} ${one.region} for pool ${one.pool}, model ${one.model}, tenant ${one.tenant}${untilText(one)}: ${one.comment}\n`;

export const overrideText = (one: OverrideView): string =>
  `${overrideLine(one)}In the last minute at this GTM it kept a region from: ${touchedText(one)}.\n`;
