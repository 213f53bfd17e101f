/** "What if this region were drained, or that number another?": asked of the latest decisions, without changing anything. */
import { createRoute } from "@hono/zod-openapi";
import type { World } from "#gtm/domain/world.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { seesEntry } from "../access.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { withAdmin } from "../order-plan.ts";
import { mustMatch, withOverride } from "../override-worlds.ts";
import type { AdminPorts } from "../ports.ts";
import { answers, BEARER, jsonBody } from "../route-parts.ts";
import { WhatIfAnswer, WhatIfBody, whatIf } from "../what-if.ts";
import { regionNamed } from "./regions.ts";

const PAGE = 500;

export const whatIfRoutes = ({ ports, clock }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "post",
      path: "/what-if",
      tags: ["decisions"],
      summary:
        "The latest turns decided again with regions, overrides or policy changed: before and after; nothing is changed",
      description:
        "Both sides are decided in the world as it is now, so that nothing but the change differs. It tells where turns would go and what they would wait by the queues of now; queues that the change itself would move are not played on: `gtm simulate --from-decisions` does that.",
      security: BEARER,
      request: { body: jsonBody(WhatIfBody) },
      responses: answers(WhatIfAnswer, "Both sides, and what would move"),
    }),
    async (c) => {
      const { last, regions, policy, overrides } = c.req.valid("json");
      const world = ports.steering.world();
      let changed: World = world;
      for (const [id, admin] of Object.entries(regions)) changed = withAdmin(changed, regionNamed(ports, id).id, admin);
      for (const [at, override] of overrides.entries()) {
        mustMatch(ports, override, `body.overrides.${at}`);
        changed = withOverride(changed, { ...override, id: `what-if-${at + 1}` });
      }
      const now = { world, policy: ports.policy };
      const other = { world: changed, policy: { ...ports.policy, ...known(policy) } };
      return c.json(await whatIf(latestTurns(ports, last, c.get("actor")), now, other, clock.monotonicMs()), 200);
    },
  );

/** Without what is said to be nothing. */
const known = <Value>(fields: Readonly<Record<string, Value | undefined>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, Value] => field[1] !== undefined));

const latestTurns = ({ decisions }: AdminPorts, last: number, actor: Actor): readonly Entry[] => {
  const turns: Entry[] = [];
  let cursor: string | null = null;
  do {
    const page: { readonly items: readonly Entry[]; readonly nextCursor: string | null } = decisions.list({
      ...{ pool: null, region: null, verdict: null, channel: "http", conversation: null },
      ...{ limit: PAGE, cursor },
    });
    turns.push(...page.items.filter(({ query }) => query.kind === "turn").filter((one) => seesEntry(actor, one)));
    cursor = page.nextCursor;
  } while (cursor !== null && turns.length < last);
  return turns.slice(0, last);
};
