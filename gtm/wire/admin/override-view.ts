/** One override, as the admin API shows it: which traffic, what is done to it, who said so, until when. */
import { z } from "@hono/zod-openapi";
import { type OrdersRecord, type Override, OverrideKind } from "#shared/records.ts";
import type { Touched } from "./override-touches.ts";

export const OverrideView = z
  .looseObject({
    id: z.string(),
    /** `deny` a region to the traffic, `force` it into one, drain the region for it, or let it have a `share` at most. */
    kind: z.string(),
    /** 0 to 1, of what is placed anew; null: it is no share. Absent: an earlier version wrote it. */
    share: z.number().nullable().optional(),
    /** Globs: `*` matches any run of characters. */
    region: z.string(),
    pool: z.string(),
    model: z.string(),
    tenant: z.string(),
    comment: z.string(),
    /** Who ordered or changed it last. */
    actor: z.string(),
    /** null: written by a version that does not say. */
    orderedAt: z.string().nullable(),
    expiresAt: z.string(),
    /** By this GTM's clock, so that the reader's does not matter. */
    expiresInMs: z.number(),
    /**
     * Whom it kept a region from at this GTM in the last minute: conversations, cells of DNS, and turns that name no conversation;
     * `yielded`: of these, whom a share let in because it would have left no region. null: a plan does not say.
     */
    lastMinute: z
      .looseObject({
        conversations: z.int(),
        cells: z.int(),
        others: z.int(),
        yielded: z.int(),
        /** False: there were more. */
        isComplete: z.boolean(),
      })
      .nullable()
      .optional(),
    /** Send it as If-Match, and a change is refused when somebody else was faster. */
    etag: z.string(),
  })
  .openapi("Override");
export type OverrideView = z.infer<typeof OverrideView>;

export const KINDS = OverrideKind.options;

/** @param nowMs Unix epoch; @param touched what it did lately; null: it stands not yet */
export const overrideView = (override: Override, nowMs: number, touched: Touched | null): OverrideView => {
  const { id, kind, share = null, region, pool, model, tenant, comment, actor, orderedAtMs, expiresAtMs } = override;
  return {
    ...{ id, kind, share, region, pool, model, tenant, comment, actor },
    orderedAt: orderedAtMs === 0 ? null : new Date(orderedAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    expiresInMs: Math.max(0, Math.round(expiresAtMs - nowMs)),
    lastMinute: touched,
    etag: overrideEtag(override),
  };
};

export const overrideEtag = ({ id, orderedAtMs }: Override): string => `"${id}-${orderedAtMs}"`;

/** null: none of that id stands. */
export const overrideNamed = (orders: OrdersRecord, id: string): Override | null =>
  orders.overrides.find((one) => one.id === id) ?? null;
