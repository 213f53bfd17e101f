/** What happened to a region, newest first. */
import { createRoute, z } from "@hono/zod-openapi";
import { regionsSeen } from "../access.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { answers, BEARER, pageOf, pageQuery, regionParams } from "../route-parts.ts";
import { regionNamed } from "./regions.ts";

export const RegionEventView = z
  .looseObject({
    at: z.string(),
    /** By this GTM's clock, so that the reader's does not matter. */
    ageMs: z.number(),
    /** `order`, `health`, `candidacy`, `report` or `placement`. */
    kind: z.string(),
    what: z.string(),
    isWorse: z.boolean(),
  })
  .openapi("RegionEvent");
export type RegionEventView = z.infer<typeof RegionEventView>;

export const RegionHistoryPage = pageOf(RegionEventView)
  .extend({
    /** Nothing before is known: this instance began to look then. */
    watchedSince: z.string(),
  })
  .openapi("RegionHistory");
export type RegionHistoryPage = z.infer<typeof RegionHistoryPage>;

const cursorText = /^\d{1,15}$/;

export const regionHistoryRoutes = ({ ports, clock, history }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/regions/{id}/history",
      tags: ["regions"],
      summary: "What happened to a region: orders, health, candidacy, silence, placements; the newest 200, in memory",
      security: BEARER,
      request: {
        params: regionParams,
        query: pageQuery.extend({ cursor: z.string().regex(cursorText, "it is of no page of this list").optional() }),
      },
      responses: answers(RegionHistoryPage, "A page, newest first"),
    }),
    (c) => {
      const region = regionNamed(ports, c.req.valid("param").id, regionsSeen(c.get("actor"), ports.pools));
      const { limit, cursor } = c.req.valid("query");
      // The cursor is the last one of the page before.
      const rest = history.of(region.id).filter(({ seq }) => cursor === undefined || seq < Number(cursor));
      const page = rest.slice(0, limit);
      const nowMs = clock.epochMs();
      const items = page.map(({ seq: _, atMs, ...event }) => ({
        at: new Date(atMs).toISOString(),
        ageMs: Math.max(0, Math.round(nowMs - atMs)),
        ...event,
      }));
      const last = page.at(-1);
      const next = rest.length > limit && last !== undefined ? String(last.seq) : null;
      return c.json({ items, next_cursor: next, watchedSince: new Date(history.watchedSinceMs).toISOString() }, 200);
    },
  );
