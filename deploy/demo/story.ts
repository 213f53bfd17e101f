/** The story of one conversation, told without hands: each step happens for real and fails unless it came out as it says. */
import type { DemoRedis } from "./redis.ts";
import type { Stack } from "./stack.ts";
import { createStage, type Step } from "./stage.ts";
import { costSteps } from "./story-costs.ts";
import { outageSteps } from "./story-outage.ts";
import { deathSteps, drainStep, undrainStep } from "./story-regions.ts";
import { secureStep } from "./story-secure.ts";

export type StoryOptions = {
  /** null: all in memory. */
  readonly redis: DemoRedis | null;
  /** Takes a line about a wait that is not part of the story. */
  readonly say: (line: string) => void;
};

/** @param stack running, without traffic of its own */
export const storyOf = (stack: Stack, { redis, say }: StoryOptions): readonly Step[] => {
  const stage = createStage(stack, say);
  const death = deathSteps(stage);
  const outage = redis === null ? [] : outageSteps(stage, redis);
  return [
    ...costSteps(stage),
    drainStep(stage),
    ...outage,
    undrainStep(stage),
    // A region has died already where Redis was lost.
    ...(outage.length > 0 ? [] : [death.kill(""), death.revive]),
    secureStep(stage),
  ];
};
