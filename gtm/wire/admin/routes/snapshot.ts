/** Everything that the answer to one question rests on, for `gtm explain --offline`. */
import { createRoute } from "@hono/zod-openapi";
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER } from "../route-parts.ts";
import { type Facts, FORMAT, FORMAT_VERSION, factsJson, Snapshot } from "../snapshot.ts";
import { decideAgain, NO_CHANGES } from "../snapshot-decision.ts";
import { explainQuery, queryOf } from "./explain.ts";

/** A world of hundreds of placements with all sends of a second is below a tenth of it. */
const MOST_BYTES = 16_777_216;

export const snapshotRoutes = ({ ports, clock }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/snapshot",
      tags: ["decisions"],
      summary: "Everything that a decision would rest on now, and the decision: the question, the world, policy, pools",
      description:
        "The question is that of POST /explain. Round trips that were measured are told of the client's own network only; prompts and credentials are never among it.",
      security: BEARER,
      request: { query: explainQuery },
      responses: answers(Snapshot, "The snapshot"),
    }),
    async (c) => {
      const { policy, pools, models, steering } = ports;
      const nowMs = clock.monotonicMs();
      const epochMs = clock.epochMs();
      const query = queryOf(ports, c.req.valid("query"), nowMs);
      const world = steering.world();
      // Read once, so that what is written is what was decided by.
      const client: Client = steering.locate(query.clientSubnet);
      const conversation: Conversation | null = await steering.findConversation(query.conversationId);
      const refusedBy = steering.refusedBy?.(query.conversationId) ?? null;
      const facts: Facts = { query, world, policy, pools, models, client, conversation, refusedBy };
      const snapshot: Snapshot = {
        format: FORMAT,
        v: FORMAT_VERSION,
        version: ports.version,
        instance: ports.instance,
        at: new Date(epochMs).toISOString(),
        epochMs,
        facts: factsJson(facts),
        decision: await decideAgain(facts, epochMs, NO_CHANGES),
      };
      if (JSON.stringify(snapshot).length > MOST_BYTES) {
        throw refuse("snapshot-too-large", `It would have more than ${MOST_BYTES} characters: the world is too large.`);
      }
      return c.json(snapshot, 200);
    },
  );
