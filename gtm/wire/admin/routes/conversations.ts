/** Conversations: where each is at home, and how to make the GTM forget one. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { ConversationId, RegionId } from "#shared/ids.ts";
import { ConversationView, conversationEtag, conversationView } from "../conversation-view.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { AdminPorts } from "../ports.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, described, pageOf, pageQuery } from "../route-parts.ts";
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

const Released = z.looseObject({ id: z.string(), released: z.boolean() }).openapi("Released");

/** What a person types: an id as every decision shows it, else a label. */
export const conversationNamed = (ports: AdminPorts, text: string): ConversationId => {
  const id = ConversationId.safeParse(text);
  return id.success ? id.data : ports.readLabel(text).conversation;
};

const found = async (ports: AdminPorts, text: string): Promise<Conversation> => {
  const id = conversationNamed(ports, text);
  const conversation = await ports.conversations.get(id);
  if (conversation !== null) return conversation;
  throw refuse(
    "not-found",
    `Nothing is known of conversation ${id}: it never had a turn here, or its entry has expired.`,
  );
};

export const conversationRoutes = ({ ports, clock, log }: Context): Router =>
  createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/conversations",
        tags: ["conversations"],
        summary: "Conversations by home",
        security: BEARER,
        request: {
          query: pageQuery.extend({
            region: described(RegionId).optional().openapi({ type: "string", description: "Only those at home there" }),
          }),
        },
        responses: answers(pageOf(ConversationView), "A page of conversations"),
      }),
      async (c) => {
        const { region, limit, cursor } = c.req.valid("query");
        if (region !== undefined) regionNamed(ports, region);
        const page = await ports.conversations.list({ region: region ?? null, limit, cursor: cursor ?? null });
        const nowMs = clock.monotonicMs();
        const items = page.items.map((one) => conversationView(one, ports.policy, nowMs));
        return c.json({ items, next_cursor: page.nextCursor }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/conversations/{id}",
        tags: ["conversations"],
        summary: "One conversation: which regions hold how much of it",
        security: BEARER,
        request: { params },
        responses: answers(ConversationView, "The conversation"),
      }),
      async (c) => {
        const conversation = await found(ports, c.req.valid("param").id);
        c.header("ETag", conversationEtag(conversation));
        return c.json(conversationView(conversation, ports.policy, clock.monotonicMs()), 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/conversations/{id}",
        tags: ["conversations"],
        summary: "Release: forget where it is at home, so that its next turn is placed anew",
        security: BEARER,
        request: { params },
        responses: answers(Released, "Whether there was one to forget"),
      }),
      async (c) => {
        const id = conversationNamed(ports, c.req.valid("param").id);
        const expected = c.req.header("if-match");
        const conversation = await ports.conversations.get(id);
        if (expected !== undefined && !matches(expected, conversation)) {
          throw refuse("precondition-failed", `Conversation ${id} has changed since it was read.`);
        }
        const released = await ports.conversations.release(id);
        log.info("conversation.released", { conversation: id, actor: c.get("actor").name, released });
        return c.json({ id, released }, 200);
      },
    );

const matches = (expected: string, conversation: Conversation | null): boolean =>
  conversation !== null && (expected === "*" || expected === conversationEtag(conversation));
