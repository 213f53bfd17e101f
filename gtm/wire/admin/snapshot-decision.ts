/** A snapshot's question decided by the flow that decides, when it is taken and again, perhaps with something changed. */
import type { World } from "#gtm/domain/world.ts";
import { decisionView } from "#gtm/steering/decision-view.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { DecisionSchema } from "./decision-schema.ts";
import type { Facts } from "./snapshot.ts";

/** What is to be other than it was. */
export type Changes = {
  readonly query: Partial<Query>;
  readonly policy: Partial<Policy>;
  readonly world: (world: World) => World;
};

export const NO_CHANGES: Changes = { query: {}, policy: {}, world: (world) => world };

/**
 * Without changes the answer is the recorded one to the last bit, as long as the program decides as that GTM's did.
 *
 * @param epochMs when the snapshot was taken
 */
export const decideAgain = async (facts: Facts, epochMs: number, changes: Changes): Promise<DecisionSchema> => {
  const query: Query = { ...facts.query, ...changes.query };
  const policy: Policy = { ...facts.policy, ...changes.policy };
  const world = changes.world(facts.world);
  const isSame = query.conversationId === facts.query.conversationId;
  const conversation = isSame ? facts.conversation : null;
  const refusedBy = isSame ? (facts.refusedBy ?? conversation?.refusedBy ?? []) : [];
  const ports = {
    world: () => world,
    locate: () => facts.client,
    findConversation: () => conversation,
    refusedBy: () => refusedBy,
    record: () => {},
  };
  const decision = await createSteer(ports, policy)(query, (decided) => decided);
  const entry = { query, decision, answer: null, answered: { value: 0 } };
  const view = decisionView(entry, policy, (atMs) => epochMs - (facts.query.receivedAtMs - atMs));
  return { ...view, considered: [...view.considered] };
};
