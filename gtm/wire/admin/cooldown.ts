/** The safety rule against two operators who take back each other's orders: who changed the same thing last, and when. */
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { OrdersRecord, Override, RegionOrder } from "#shared/records.ts";

/** What an order changes: these regions, for this traffic. Of an order about a region: the one, and three stars. */
export type ChangeTarget = {
  readonly regions: readonly string[];
  readonly pool: string;
  readonly model: string;
  readonly tenant: string;
};

export type LateChange = {
  readonly region: string;
  readonly actor: string;
  /** What they did, such as "drained it (drain-all)". */
  readonly did: string;
  readonly comment: string;
  readonly agoMs: number;
};

type Asked = { readonly target: ChangeTarget; readonly actor: string };

/**
 * The newest change of the same thing by somebody else within the cooldown. One's own newest change never counts: whoever gave an
 * order may take it back or go on with it. What ended by its own time was nobody's change.
 *
 * @param record also what is over and was taken back
 * @param nowMs Unix epoch
 */
export const lateChangeOf = (
  record: Pick<OrdersRecord, "regions" | "overrides">,
  { target, actor }: Asked,
  { nowMs, cooldownMs }: { readonly nowMs: number; readonly cooldownMs: number },
): LateChange | null => {
  const changes = [
    ...record.regions.filter((order) => concerns(order, target)).map((order) => ({ order, region: order.region })),
    ...record.overrides.flatMap((order) => {
      const region = sameThing(order, target);
      return region === null ? [] : [{ order, region }];
    }),
  ].sort((a, b) => b.order.orderedAtMs - a.order.orderedAtMs);
  const [newest] = changes;
  if (newest === undefined || newest.order.actor === actor) return null;
  const { order, region } = newest;
  // A clock that is ahead of this one makes nothing younger than now.
  const agoMs = Math.max(0, nowMs - order.orderedAtMs);
  if (agoMs >= cooldownMs) return null;
  return { region, actor: order.actor, did: deedOf(order), comment: order.comment, agoMs };
};

const concerns = ({ region }: RegionOrder, { regions, pool, model, tenant }: ChangeTarget): boolean =>
  regions.includes(region) && pool === "*" && model === "*" && tenant === "*";

/** The first of the regions that it is about, too; null: it is about other traffic, or other regions. */
const sameThing = (override: Override, { regions, pool, model, tenant }: ChangeTarget): string | null =>
  override.pool === pool && override.model === model && override.tenant === tenant
    ? (regions.find((region) => matchesGlob(override.region, region) !== (override.kind === "force")) ?? null)
    : null;

const deedOf = (order: RegionOrder | Override): string => {
  if (!isRegionOrder(order)) {
    return order.expiresAtMs <= order.orderedAtMs
      ? `cancelled override ${order.id}`
      : `gave override ${order.id} (${order.kind})`;
  }
  switch (order.admin) {
    case "active":
      return "returned it to service";
    case "forced-up":
      return "forced it up";
    case "down":
      return "ordered it down";
    case "drain-new":
    case "drain-all":
      return `drained it (${order.admin})`;
  }
};

const isRegionOrder = (order: RegionOrder | Override): order is RegionOrder => "admin" in order;
