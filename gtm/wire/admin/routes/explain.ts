/** "Where would this turn go, and why?", answered by the flow that answers turns, without leaving a trace. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Entry, Query } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { ModelId } from "#shared/ids.ts";
import { ConversationId } from "#shared/ids.ts";
import { isLimited } from "../access.ts";
import { mustMay } from "../admission.ts";
import type { Actor } from "../auth.ts";
import { clientSubnetOf } from "../client-subnet.ts";
import { mustSee } from "../conversation-sight.ts";
import { viewer } from "../decision-clock.ts";
import { DecisionSchema } from "../decision-schema.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { AdminPorts, LabelReading } from "../ports.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, jsonBody } from "../route-parts.ts";

/** Longer than any context that is served today. */
const MOST_TOKENS = 100_000_000;
const tokens = z.int().nonnegative().max(MOST_TOKENS);

const ExplainBody = z
  .strictObject({
    pool: z.string().min(1).max(63),
    /** Absent: the pool's first. An alias will do. */
    model: z.string().min(1).max(256).optional(),
    /** An address or a network; only its /24 or /48 is looked at. */
    client: z
      .string()
      .max(64)
      .refine(
        (text) => clientSubnetOf(text) !== null,
        "must be an IP address or a network, such as 203.0.113.7 or 203.0.113.0/24",
      )
      .openapi({ example: "203.0.113.7" }),
    /** A label or an id; absent: a first turn. */
    conversation: z.string().min(1).max(63).optional(),
    tenant: z.string().min(1).max(128).default("default"),
    /** Of the whole prompt, context included. */
    prompt_tokens: tokens.optional(),
    output_tokens: tokens.optional(),
  })
  .openapi("Explain");
type ExplainBody = z.infer<typeof ExplainBody>;

const countIn = z.coerce.number().pipe(tokens).openapi({ type: "integer", minimum: 0, maximum: MOST_TOKENS });
/** The same question in a query. */
export const explainQuery = z.strictObject({
  ...ExplainBody.shape,
  prompt_tokens: countIn.optional(),
  output_tokens: countIn.optional(),
});

export const explainRoutes = ({ ports, clock }: Context): Router => {
  const viewOf = viewer(ports.policyAt, clock);
  return createRouter().openapi(
    createRoute({
      method: "post",
      path: "/explain",
      tags: ["decisions"],
      summary: "What would be decided for a turn, with everything considered; nothing is recorded",
      security: BEARER,
      request: { body: jsonBody(ExplainBody) },
      responses: answers(DecisionSchema, "The decision that would be made"),
    }),
    async (c) => {
      const query = queryOf(ports, c.req.valid("json"), clock.monotonicMs());
      await mustSeeAll(c.get("actor"), ports, query);
      // The main flow with a record that keeps nothing: no pin is claimed, no send is booked.
      const steer = createSteer({ ...ports.steering, record: () => {} }, ports.policy);
      const decision = await steer(query, (decided) => decided);
      const entry: Entry = { query, decision, answer: null, answered: { value: 0 } };
      return c.json(viewOf(entry), 200);
    },
  );
};

/** @throws {ProblemError} 403 for other people's pools and tenants, 404 for their conversations */
const mustSeeAll = async (actor: Actor, ports: AdminPorts, { pool, tenant, conversationId }: Query): Promise<void> => {
  // No region is ordered about: those that they may not order of take part in what is decided.
  const everywhere = { ...actor, scope: { ...actor.scope, regions: null } };
  mustMay(everywhere, "viewer", { kind: "order-traffic", region: "*", pool: pool.name, tenant });
  if (conversationId === null || !isLimited(actor)) return;
  const owned = await ports.conversations.owned(conversationId);
  if (owned !== null) mustSee(actor, ports, owned, conversationId);
};

export const queryOf = (ports: AdminPorts, body: ExplainBody, nowMs: number): Query => {
  const pool = poolNamed(ports, body.pool);
  const clientSubnet = clientSubnetOf(body.client);
  if (clientSubnet === null) throw new Error("explain: the schema let a client pass that is no network");
  const label = conversationIn(ports, body.conversation);
  return {
    id: ports.newDecisionId(),
    channel: "explain",
    kind: "turn",
    pool,
    model: modelIn(ports, pool, body.model),
    tenant: body.tenant,
    clientSubnet,
    conversationId: label?.conversation ?? null,
    pinnedTo: label?.pinnedTo ?? null,
    promptTokens: body.prompt_tokens ?? null,
    outputTokens: body.output_tokens ?? null,
    outputLimitTokens: null,
    parentId: null,
    stateRegion: null,
    receivedAtMs: nowMs,
  };
};

const conversationIn = (ports: AdminPorts, text: string | undefined): LabelReading | null => {
  if (text === undefined) return null;
  const id = ConversationId.safeParse(text);
  return id.success ? { conversation: id.data, pinnedTo: null } : ports.readLabel(text);
};

const poolNamed = ({ pools }: AdminPorts, name: string): Pool => {
  const pool = pools.find((one) => one.name === name);
  if (pool !== undefined) return pool;
  throw refuse("not-found", `There is no pool ${name}; there are ${pools.map((one) => one.name).join(", ")}.`);
};

const modelIn = ({ models }: AdminPorts, pool: Pool, name: string | undefined): ModelId | null => {
  if (name === undefined) return null;
  const model = models.find((one) => one.id === name || one.aliases.includes(name));
  if (model !== undefined && pool.models.includes(model.id)) return model.id;
  throw refuse("not-found", `Pool ${pool.name} has no model ${name}; it has ${pool.models.join(", ")}.`);
};
