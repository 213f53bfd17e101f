/** How people name conversations: one by its label or id, many by what they have in common. */
import { z } from "@hono/zod-openapi";
import { CONVERSATION_SORTS, type ConversationQuery, type OwnedConversation } from "#gtm/domain/conversation-query.ts";
import { ConversationId, RegionId } from "#shared/ids.ts";
import { tagOf } from "#shared/pin-token.ts";
import { duration } from "#shared/units.ts";
import { conversationEtag } from "./conversation-view.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";
import { described, pageQuery } from "./route-parts.ts";
import { regionNamed } from "./routes/regions.ts";

/** Longer than any context that is served today. */
const MOST_TOKENS = 100_000_000;

export const conversationsQuery = pageQuery.extend({
  region: described(RegionId).optional().openapi({ type: "string", description: "Only those at home there" }),
  model: z.string().min(1).max(256).optional().openapi({ description: "A model or an alias" }),
  pool: z.string().min(1).max(63).optional(),
  tenant: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .openapi({ description: "By a tag of two octets: one tenant in 65 536 looks the same" }),
  min_tokens: z.coerce
    .number({ error: "must be a whole number" })
    .int("must be a whole number")
    .min(0)
    .max(MOST_TOKENS)
    .optional()
    .openapi({ type: "integer", minimum: 0, description: "Only those with so much context" }),
  idle: z
    .string({ error: "must be a duration with its unit, such as 30m or 2h" })
    .pipe(duration)
    .optional()
    .openapi({ type: "string", example: "10m", description: "Only those without a turn for so long" }),
  sort: z.enum(CONVERSATION_SORTS).default("recent").openapi({
    description:
      "recent: latest turn first; idle: longest without a turn first; tokens: largest context first; region: by home, then as recent",
  }),
});

/** @throws {ProblemError} 404 where a region, pool or model is none of ours */
export const conversationsWanted = (
  ports: AdminPorts,
  query: z.infer<typeof conversationsQuery>,
): ConversationQuery => {
  const { region = null, model, pool, tenant, min_tokens: minTokens = 0, idle = 0, sort, limit, cursor = null } = query;
  if (region !== null) regionNamed(ports, region);
  return {
    region,
    model: model === undefined ? null : modelNamed(ports, model),
    poolTag: pool === undefined ? null : poolTagNamed(ports, pool),
    tenantTag: tenant === undefined ? null : tagOf(tenant),
    ...{ minTokens, minIdleMs: idle, sort, limit, cursor },
  };
};

const modelNamed = ({ models }: AdminPorts, name: string): ConversationQuery["model"] => {
  const model = models.find((one) => one.id === name || one.aliases.includes(name));
  if (model !== undefined) return model.id;
  throw refuse("not-found", `There is no model ${name}; there are ${models.map(({ id }) => id).join(", ")}.`);
};

const poolTagNamed = ({ pools }: AdminPorts, name: string): number => {
  if (pools.some((one) => one.name === name)) return tagOf(name);
  throw refuse("not-found", `There is no pool ${name}; there are ${pools.map((one) => one.name).join(", ")}.`);
};

/** What a person types: an id as every decision shows it, else a label. */
export const conversationNamed = (ports: AdminPorts, text: string): ConversationId => {
  const id = ConversationId.safeParse(text);
  return id.success ? id.data : ports.readLabel(text).conversation;
};

/** @throws {ProblemError} 404 */
export const conversationFound = async (ports: AdminPorts, text: string): Promise<OwnedConversation> => {
  const id = conversationNamed(ports, text);
  const owned = await ports.conversations.owned(id);
  if (owned !== null) return owned;
  throw refuse(
    "not-found",
    `Nothing is known of conversation ${id}: it never had a turn here, or its entry has expired.`,
  );
};

/** @throws {ProblemError} 412 where the conversation is not what the caller saw */
export const mustMatch = (ifMatch: string | undefined, owned: OwnedConversation | null, id: ConversationId): void => {
  if (ifMatch === undefined) return;
  if (owned !== null && (ifMatch === "*" || ifMatch === conversationEtag(owned.conversation))) return;
  throw refuse("precondition-failed", `Conversation ${id} has changed since it was read.`);
};
