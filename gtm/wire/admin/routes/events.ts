/** The live stream: decisions and changes of regions as server-sent events, resumable. */
import { createRoute, z } from "@hono/zod-openapi";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { regionsSeen, seesTraffic } from "../access.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { Happening } from "../event-hub.ts";
import { MOST_PER_SECOND } from "../event-stream.ts";
import type { DecisionFilter } from "../ports.ts";
import { problemOf, problemResponse } from "../problem.ts";
import { BEARER } from "../route-parts.ts";
import { filterOf, filterQuery, sightOf } from "./decisions.ts";

const KINDS = ["decision", "region", "operation"] as const;

const query = filterQuery.extend({
  kinds: z
    .string()
    .regex(
      /^(?:decision|region|operation)(?:,(?:decision|region|operation)){0,2}$/,
      "must be decision, region, operation or several of them, with a comma between",
    )
    .default("decision,region,operation"),
  close: z.enum(["true", "false"]).default("false").openapi({
    description: "true: of decisions only those that led by less than a conversation must save to move",
  }),
  per_second: z.coerce
    .number({ error: `must be a number from 1 to ${MOST_PER_SECOND}` })
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(MOST_PER_SECOND, `must be ${MOST_PER_SECOND} or less`)
    .default(MOST_PER_SECOND)
    .openapi({
      type: "integer",
      minimum: 1,
      maximum: MOST_PER_SECOND,
      default: MOST_PER_SECOND,
      description: "Decisions that are told in a second; how many others there were is told, too",
    }),
});

export const isWanted = (entry: Entry, filter: DecisionFilter): boolean => {
  const { query: asked, decision } = entry;
  return (
    (filter.pool === null || asked.pool.name === filter.pool) &&
    (filter.channel === null || asked.channel === filter.channel) &&
    (filter.verdict === null || decision.verdict.kind === filter.verdict) &&
    (filter.region === null || regionOf(decision.verdict) === filter.region) &&
    (filter.conversation === null || asked.conversationId === filter.conversation)
  );
};

const isClose = ({ decision: { verdict, marginMs } }: Entry): boolean =>
  verdict.kind !== "unserved" && verdict.leadMs !== null && verdict.leadMs < marginMs;

const EXAMPLE =
  'id: 5f2c-182\nevent: decision\ndata: {"id":"01K5…","verdict":{"kind":"pinned","region":"eu-central"}}\n\n';

export const eventRoutes = ({ ports, streams, auth }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/events",
      tags: ["events"],
      summary:
        "Decisions, changes of regions and the progress of drains as they happen; Last-Event-ID goes on after that event",
      description:
        "Events: `decision` (a Decision), `region` (at, region, changes), `operation` (at, and an Operation), `gap` (what followed Last-Event-ID is no longer kept), `skipped` (so many decisions were not shown because they came faster than `per_second`; told once a second). Written four times a second at most. A comment every 15 s keeps the connection open. A reader that lags more than 1 MiB is let go.",
      security: BEARER,
      request: { query },
      responses: {
        200: {
          description: "An endless stream",
          content: { "text/event-stream": { schema: z.string().openapi({ example: EXAMPLE }) } },
        },
      },
    }),
    (c) => {
      const { kinds, close, per_second: perSecond, ...filter } = c.req.valid("query");
      const wanted = filterOf(ports, filter);
      const wishes = new Set<string>(KINDS.filter((kind) => kinds.split(",").includes(kind)));
      const actor = c.get("actor");
      const sees = sightOf(actor);
      const seen = regionsSeen(actor, ports.pools);
      const wants = (happening: Happening): boolean => {
        if (!wishes.has(happening.kind)) return false;
        if (happening.kind === "region") return seen === null || seen.has(happening.change.region);
        if (happening.kind === "operation") return seesTraffic(actor, happening.operation);
        const { entry } = happening;
        return isWanted(entry, wanted) && (sees?.(entry) ?? true) && (close === "false" || isClose(entry));
      };
      const { outgoing } = c.env;
      const body = streams.open(
        { wants, lastEventId: c.req.header("last-event-id") ?? null, perSecond },
        { drop: () => outgoing.destroy(), stands: () => auth.stands(actor) },
      );
      if (body === null) {
        return problemResponse(problemOf("too-many-streams", "Close one that is no longer read."), {
          "retry-after": "10",
        });
      }
      return c.body(body, 200, { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" });
    },
  );
