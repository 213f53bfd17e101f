/** The edge agents: who reports which region, how well, and what mends what is wrong. */
import { createRoute, z } from "@hono/zod-openapi";
import { AGENT_REMEDIES } from "../agent-remedies.ts";
import { AgentFaultView, AgentView, agentViews } from "../agent-view.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { answers, BEARER, pageOf, pageQuery } from "../route-parts.ts";
import { regionNamed } from "./regions.ts";

export const Agents = pageOf(AgentView)
  .extend({
    /** Regions of which no agent was ever heard. */
    unreported: z.array(AgentFaultView.extend({ region: z.string() })),
  })
  .openapi("Agents");
export type Agents = z.infer<typeof Agents>;

export const agentRoutes = ({ ports, clock }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/agents",
      tags: ["regions"],
      summary: "Every edge agent that was heard of: its reports, the engines it reads, what is wrong and what mends it",
      security: BEARER,
      request: { query: pageQuery.extend({ region: z.string().max(63).optional() }) },
      responses: answers(Agents, "A page of agents, in the order of regions"),
    }),
    (c) => {
      const { limit, cursor, region } = c.req.valid("query");
      if (region !== undefined) regionNamed(ports, region);
      const seen = ports.agents();
      const { staleAfterMs, expiredAfterMs } = ports.policy;
      const views = agentViews(seen, {
        ...{ staleAfterMs, expiredAfterMs, nowEpochMs: clock.epochMs(), version: ports.version },
      }).filter((one) => region === undefined || one.region === region);
      // The cursor is the last one of the page before.
      const after = cursor === undefined ? -1 : views.findIndex((one) => keyOf(one) === cursor);
      const items = views.slice(after + 1, after + 1 + limit);
      const isMore = after + 1 + limit < views.length;
      const last = items.at(-1);
      const unreported = ports.steering
        .world()
        .regions.filter(({ id }) => !seen.some((one) => one.region === id) && (region ?? id) === id)
        .map(({ id }) => ({
          region: id,
          id: "region-unreported",
          severity: "problem" as const,
          what: `No agent reports ${id}: it gets no conversation but by the last resort.`,
          remedy: AGENT_REMEDIES.start(id),
        }));
      return c.json({ items, next_cursor: isMore && last !== undefined ? keyOf(last) : null, unreported }, 200);
    },
  );

const keyOf = ({ region, agent }: AgentView): string => `${region}/${agent}`;
