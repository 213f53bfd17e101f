/** Conversations: where each is at home, how to make the GTM forget one, and how to have one go elsewhere. */

import { createRoute, z } from "@hono/zod-openapi";
import type { OwnedConversation } from "#gtm/domain/conversation-query.ts";
import { RegionId } from "#shared/ids.ts";
import { MovePlan, planMove, planRelease, poolTagged, ReleasePlan } from "../conversation-plan.ts";
import {
  conversationFound,
  conversationNamed,
  conversationsQuery,
  conversationsWanted,
  mustMatch,
} from "../conversation-request.ts";
import { conversationSight, mustMayOrderOf, mustMayTurn, mustSee } from "../conversation-sight.ts";
import {
  ConversationDetail,
  ConversationView,
  conversationEtag,
  conversationView,
  turnView,
} from "../conversation-view.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { isAnyState } from "../if-match.ts";
import { dryRunQuery, isDryRun } from "../order-query.ts";
import { Comment } from "../order-wish.ts";
import { type ProblemError, refuse } from "../problem.ts";
import { answers, BEARER, described, jsonBody, pageOf } from "../route-parts.ts";
import { regionNamed } from "./regions.ts";

const params = z.object({
  id: z
    .string()
    .min(1)
    .max(63)
    .openapi({
      param: { name: "id", in: "path" },
      description: "A label (p1…, or any other) or the 13 characters of an id",
    }),
});

const ConversationPage = pageOf(ConversationView).extend({
  /** Records that were looked at for this page, 500 at most. */
  examined: z.int(),
  /** Few passed the filter, so that the page holds fewer than asked for though there is more. */
  isShort: z.boolean(),
});

const Released = z.looseObject({ id: z.string(), released: z.boolean() }).openapi("Released");

const MoveBody = z
  .strictObject({ region: described(RegionId).openapi({ type: "string", example: "us-east" }), comment: Comment })
  .openapi("Move");
export const conversationRoutes = (context: Context): Router => {
  const { ports, clock, log, conversationTurns } = context;
  const viewOf = ({ conversation, owner }: OwnedConversation): ConversationView =>
    conversationView(conversation, {
      ...{ policy: ports.policy, nowMs: clock.monotonicMs() },
      pool: poolTagged(ports.pools, owner.poolTag)?.name ?? null,
    });
  const detailOf = (owned: OwnedConversation): ConversationDetail => ({
    ...viewOf(owned),
    history: conversationTurns.of(owned.conversation.id).map(turnView),
  });
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/conversations",
        tags: ["conversations"],
        summary: "Conversations by home, under a filter, in an order",
        description:
          "Pages show whatever stands still exactly once, however much changes between them. Sorted by tokens, a region lists its 10 000 largest. One request reads at most 500 records: where few pass the filter a page comes back short (`isShort`) and its cursor goes on.",
        security: BEARER,
        request: { query: conversationsQuery },
        responses: answers(ConversationPage, "A page of conversations"),
      }),
      async (c) => {
        const wanted = conversationsWanted(ports, c.req.valid("query"));
        const actor = c.get("actor");
        const found = await ports.conversations.search(wanted);
        if (found === null) {
          const message = `it is of no list sorted by ${wanted.sort}: begin again without one`;
          throw refuse("malformed-request", `query.cursor: ${message}`, { faults: [{ at: "query.cursor", message }] });
        }
        const { examined, nextCursor } = found;
        const items = found.items.filter(conversationSight(actor, ports)).map(viewOf);
        const isShort = nextCursor !== null && items.length < wanted.limit;
        return c.json({ items, next_cursor: nextCursor, examined, isShort }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/conversations/{id}",
        tags: ["conversations"],
        summary: "One conversation: which regions hold how much of it, and how its latest turns went",
        security: BEARER,
        request: { params },
        responses: answers(ConversationDetail, "The conversation"),
      }),
      async (c) => {
        const owned = await conversationFound(ports, c.req.valid("param").id);
        mustSee(c.get("actor"), ports, owned, owned.conversation.id);
        c.header("ETag", conversationEtag(owned.conversation));
        return c.json(detailOf(owned), 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/conversations/{id}",
        tags: ["conversations"],
        summary: "Release: forget where it is at home, so that its next turn is placed anew",
        description:
          "By label or id. With dry_run=true the answer is the ReleasePlan: where the next turn would go, and what it would compute again.",
        security: BEARER,
        request: { params, query: dryRunQuery },
        responses: answers(
          z.union([Released, ReleasePlan]),
          "Whether there was one to forget, or with dry_run=true the plan",
        ),
      }),
      async (c) => {
        const id = conversationNamed(ports, c.req.valid("param").id);
        const owned = await ports.conversations.owned(id);
        mustMayTurn(c.get("actor"), ports, owned, id);
        const ifMatch = c.req.header("if-match");
        mustMatch(ifMatch, owned, id);
        if (isDryRun(c.req.valid("query"))) return c.json(planRelease(context, owned, id), 200);
        const outcome = await ports.conversations.release(id, revSeen(ifMatch, owned));
        const released = outcome === "released";
        if (outcome === "changed" || (!released && ifMatch !== undefined)) throw changedNow(id);
        log.info("conversation.released", { conversation: id, actor: c.get("actor").name, released });
        return c.json({ id, released }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/conversations/{id}/move",
        tags: ["conversations"],
        summary: "Order a conversation to a region: its next turn goes there, once",
        description:
          "With dry_run=true the answer is the MovePlan: what the next turn would compute again, and whether the one after it would go back. Refused (409) where the region may not serve the next turn.",
        security: BEARER,
        request: { params, query: dryRunQuery, body: jsonBody(MoveBody) },
        responses: answers(
          z.union([ConversationDetail, MovePlan]),
          "The conversation as ordered, or with dry_run=true the plan",
        ),
      }),
      async (c) => {
        const { region } = c.req.valid("json");
        regionNamed(ports, region);
        const owned = await conversationFound(ports, c.req.valid("param").id);
        const { id } = owned.conversation;
        mustMayTurn(c.get("actor"), ports, owned, id);
        mustMayOrderOf(c.get("actor"), region);
        const ifMatch = c.req.header("if-match");
        mustMatch(ifMatch, owned, id);
        const plan = planMove(context, owned, region);
        if (isDryRun(c.req.valid("query"))) return c.json(plan, 200);
        const moved = await ports.conversations.move(id, region, revSeen(ifMatch, owned));
        if (moved.kind !== "moved") throw changedNow(id);
        log.info("conversation.moved", { conversation: id, from: plan.from, to: region, actor: c.get("actor").name });
        c.header("ETag", conversationEtag(moved.conversation));
        return c.json(detailOf({ conversation: moved.conversation, owner: owned.owner }), 200);
      },
    );
};

/** What the store has to compare; null: the caller does not mind. */
const revSeen = (ifMatch: string | undefined, owned: OwnedConversation | null): number | null =>
  isAnyState(ifMatch) ? null : (owned?.conversation.rev ?? null);

const changedNow = (id: string): ProblemError =>
  refuse("precondition-failed", `Conversation ${id} changed at this moment; look at it again.`);
