/** What an override asks for, as safety rules look at it. */
import type { World } from "#gtm/domain/world.ts";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { Override } from "#shared/records.ts";
import type { Asked } from "./order-effects.ts";

/** The regions that it keeps traffic out of, and whose traffic. */
export const askedBy = (
  { kind, region, pool, model, tenant, actor, orderedAtMs }: Override,
  { regions }: World,
): Asked => ({
  target: {
    regions: regions.flatMap(({ id }) => (matchesGlob(region, id) !== (kind === "force") ? [id] : [])),
    ...{ pool, model, tenant },
  },
  ...{ actor, epochMs: orderedAtMs, takesNothing: false },
});
