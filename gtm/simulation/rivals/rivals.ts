/** Every rival by name, with the parameters it is compared with: data, so that they can be tuned as ours are. */
import type { CreateContender } from "../rival.ts";
import { BOUNDED_HASH, CONSISTENT_HASH, createConsistentHash } from "./consistent-hash.ts";
import { createGorgoLike, GORGO_LIKE, GORGO_PLAYED, GORGO_PROXY } from "./gorgo-like.ts";
import { createLeastRequests } from "./least-requests.ts";
import { createNearest } from "./nearest.ts";
import { createOracle } from "./oracle.ts";
import { createPowerOfTwo, POWER_OF_TWO } from "./power-of-two.ts";
import { createRandom } from "./random.ts";
import { createRoundRobin } from "./round-robin.ts";
import { createSkywalkerLike, SKYWALKER_LIKE } from "./skywalker-like.ts";
import { createStargateLike, STARGATE_LIKE } from "./stargate-like.ts";
import { createSticky } from "./sticky.ts";

export type NamedRival = {
  readonly name: string;
  /** One line for a table's legend. */
  readonly says: string;
  readonly parameters: Readonly<Record<string, number | string | null>>;
  readonly create: CreateContender;
  /** The same with other parameters than its own; those that are not given stay. */
  readonly createWith: (parameters: NamedRival["parameters"]) => CreateContender;
};

/** @param parameters shown beside the name, and what the rival is made with */
const rival = <P extends NamedRival["parameters"]>(
  name: string,
  says: string,
  parameters: P,
  create: (arena: Parameters<CreateContender>[0], parameters: P) => ReturnType<CreateContender>,
): NamedRival => ({
  ...{ name, says, parameters },
  create: (arena) => create(arena, parameters),
  createWith: (others) => (arena) => create(arena, { ...parameters, ...others }),
});

/** From the one that knows least to the one that knows all; the oracle is no policy that anybody could run. */
export const RIVALS: readonly NamedRival[] = [
  rival("round-robin", "each turn to the next region", {}, createRoundRobin),
  rival("random", "each turn to any region", {}, createRandom),
  rival("nearest", "each turn to the region with the shortest round trip", {}, createNearest),
  rival("least-requests", "fewest requests under way for each replica", {}, createLeastRequests),
  rival("power-of-two", "of two drawn, the one with fewer requests under way", POWER_OF_TWO, createPowerOfTwo),
  rival("consistent-hash", "hash of the conversation, weighted by speed", CONSISTENT_HASH, createConsistentHash),
  rival("bounded-hash", "the same, with bounded loads", BOUNDED_HASH, createConsistentHash),
  rival("sticky", "first to the nearest, then where the turn before went", {}, createSticky),
  rival("skywalker-like", "local while nobody waits there, else the best prefix", SKYWALKER_LIKE, createSkywalkerLike),
  rival("stargate-like", "of two by weighted rendezvous, the least estimated TTFT", STARGATE_LIKE, createStargateLike),
  rival("gorgo-like", "least round trip + uncached prefill + reported queue", GORGO_LIKE, createGorgoLike),
  rival("gorgo-proxy", "the same, with the queue that it counts itself", GORGO_PROXY, createGorgoLike),
  rival("gorgo-played", "the same, with our backlogs played forward", GORGO_PLAYED, createGorgoLike),
  rival("oracle", "true caches and queues, one decision ahead", {}, createOracle),
];

/** @returns null: there is none of that name */
export const rivalNamed = (name: string): NamedRival | null => RIVALS.find((one) => one.name === name) ?? null;
