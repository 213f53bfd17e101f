/** The last quarter of an hour, for the overview: decisions, turns, areas, changes. */
import { createRoute, z } from "@hono/zod-openapi";
import type { RegionId } from "#shared/ids.ts";
import { regionsSeen } from "../access.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { BUCKET_MS, type Recent } from "../recent.ts";
import { recentFor } from "../recent-sight.ts";
import { answers, BEARER } from "../route-parts.ts";

const TurnsView = z.looseObject({
  region: z.string(),
  turns: z.int(),
  /** First tokens later than three seconds, as gateways measured. */
  overThreeSeconds: z.int(),
  /** The engine failed. */
  failed: z.int(),
});

export const RecentView = z
  .looseObject({
    bucketMs: z.number(),
    /** Oldest first; the last one is not over yet. What this instance decided, and what gateways of all regions measured. */
    buckets: z.array(
      z.looseObject({ at: z.string(), verdicts: z.record(z.string(), z.int()), turns: z.array(TurnsView) }),
    ),
    /** Decisions by client area and region, most first; older ones fade out. */
    areas: z.array(z.looseObject({ area: z.string(), region: z.string().nullable(), count: z.number() })),
    /** Newest first. */
    changes: z.array(
      z.looseObject({
        at: z.string(),
        region: z.string(),
        changes: z.array(z.looseObject({ field: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
      }),
    ),
    /** Since when regions are as they are; at the earliest since this instance began to look. */
    since: z.array(z.looseObject({ region: z.string(), healthSince: z.string(), adminSince: z.string() })),
  })
  .openapi("Recent");
export type RecentView = z.infer<typeof RecentView>;

const isoOf = (epochMs: number): string => new Date(epochMs).toISOString();

const recentView = (recent: Recent, regions: readonly RegionId[]): RecentView => ({
  bucketMs: BUCKET_MS,
  buckets: recent.buckets().map(({ fromMs, verdicts, regions: byRegion }) => ({
    at: isoOf(fromMs),
    verdicts: { ...verdicts },
    turns: [...byRegion].map(([region, sum]) => ({ region, ...sum })),
  })),
  areas: recent.areas().map(({ area, region, count }) => ({ area, region, count: Math.round(count * 10) / 10 })),
  changes: recent.changes().map(({ atMs, region, changes }) => ({
    at: isoOf(atMs),
    region,
    changes: changes.map((one) => ({ ...one })),
  })),
  since: regions.map((id) => {
    const { healthMs, adminMs } = recent.since(id);
    return { region: id, healthSince: isoOf(healthMs), adminSince: isoOf(adminMs) };
  }),
});

export const recentRoutes = ({ ports, recent, clock }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/recent",
      tags: ["status"],
      summary: "The last quarter of an hour: decisions by verdict, turns over three seconds, areas, changes of regions",
      description:
        "For who is limited to pools or tenants: their decisions that this instance remembers, and no measured turns.",
      security: BEARER,
      responses: answers(RecentView, "The quarter of an hour"),
    }),
    (c) => {
      const actor = c.get("actor");
      const seen = regionsSeen(actor, ports.pools);
      const ids = ports.steering.world().regions.map(({ id }) => id);
      const regions = ids.filter((id) => seen === null || seen.has(id));
      return c.json(recentView(recentFor(actor, { ports, clock, recent }), regions), 200);
    },
  );
