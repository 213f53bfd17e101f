/** A prefix index as large as a scenario's fleet has room for, kept by what a rival is told of its turns. */
import type { Arena, Asked, Contender } from "../rival.ts";
import { createPrefixIndex, type PrefixIndex } from "./prefix-index.ts";

export const fleetPrefixIndex = ({ scenario }: Pick<Arena, "scenario">): PrefixIndex => {
  const [first] = scenario.fleet;
  if (first === undefined) throw new RangeError("a fleet has at least one region");
  const capacityTokens = scenario.fleet.map(({ replicas, engine }) => replicas * engine.kvTokens);
  return createPrefixIndex(capacityTokens, first.engine.blockTokens);
};

/** What keeps the index: the prompt is held from the first token on, the answer when it has ended. */
export const learnsFrom = (index: PrefixIndex): Omit<Contender, "choose"> => ({
  onFirstToken: (turn: Asked, { region, replica }) => index.held(region, replica, turn.blocks, turn.promptTokens),
  onFinished: (turn: Asked, { region, replica, promptTokens, outputTokens }) =>
    index.held(region, replica, turn.blocks, promptTokens + outputTokens),
  onFailed: (_turn: Asked, region: number) => index.forget(region),
});
