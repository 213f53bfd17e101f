/** What is decided through under one configuration. When the next one stands, who still decides by this one sees its last world. */
import type { World } from "#gtm/domain/world.ts";
import type { Ports } from "#gtm/steering/ports.ts";

export type Generation = {
  /** Conversations that are not in memory may be looked up for so long, ms. */
  readonly portsWithin: (deadlineMs: number) => Ports;
  /** From now on the world stands still: a decision under way has the regions that its pools name. */
  readonly end: () => void;
};

export const createGeneration = (parts: {
  readonly world: () => World;
  readonly locate: Ports["locate"];
  readonly find: (
    id: Parameters<Ports["findConversation"]>[0],
    deadlineMs: number,
  ) => ReturnType<Ports["findConversation"]>;
  readonly refusedBy: NonNullable<Ports["refusedBy"]>;
  readonly record: Ports["record"];
}): Generation => {
  let last: World | null = null;
  const world = (): World => last ?? parts.world();
  return {
    portsWithin: (deadlineMs) => ({
      world,
      locate: parts.locate,
      findConversation: (id) => parts.find(id, deadlineMs),
      refusedBy: parts.refusedBy,
      record: parts.record,
    }),
    end: () => {
      last = parts.world();
    },
  };
};
