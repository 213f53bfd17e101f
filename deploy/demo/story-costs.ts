/** The story's first steps: what leaving would cost decides where a conversation goes. */
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { expect } from "./expectation.ts";
import { ENGINE } from "./places.ts";
import { ALL_REGIONS, expectTurn, LATER_PROMPT_TOKENS, type Stage, type Step, toldOf } from "./stage.ts";

/** First prompt: at 8 000 tokens/s one and a half seconds to compute, and as much to compute again. */
const FIRST_PROMPT_TOKENS = 12_000;
const FILLERS_THAT_DO_NOT_PAY = 1;
const FILLERS_THAT_PAY = 24;
/** A step that came out by a hair would not come out tomorrow. */
const CLEARLY = 1.5;
const NEAR = "eu-central";

export const costSteps = (stage: Stage): readonly Step[] => {
  const { stack, first, other } = stage;
  const queued = (leastMs: number): Promise<unknown> =>
    stage.everywhere([NEAR], (region) => backlogsOf(region).every((ms) => ms > leastMs), "reports the queue");
  return [
    {
      title: `the first turn, ${FIRST_PROMPT_TOKENS} tokens from Frankfurt, is placed near its client`,
      tell: async () => {
        await stage.everywhere(ALL_REGIONS, ({ health }) => health === "healthy", "is healthy");
        const told = await stage.turn(FIRST_PROMPT_TOKENS, first);
        expectTurn(told.turn, "placed", (region) => region === NEAR);
        return toldOf(told);
      },
    },
    {
      title: `the second turn${stage.isShared ? ", at the other GTM," : ""} returns to the region that holds its context`,
      tell: async () => {
        if (stage.isShared) await stage.homeKnown();
        const told = await stage.turn(LATER_PROMPT_TOKENS, other);
        const { turn } = told;
        expectTurn(turn, "pinned", (region) => region === NEAR);
        const cachedFraction = turn.cachedTokens / turn.promptTokens;
        expect(cachedFraction > 0.9, `only ${turn.cachedTokens} of ${turn.promptTokens} tokens were cached`);
        return toldOf(told);
      },
    },
    {
      title: `${FILLERS_THAT_DO_NOT_PAY} prompt of ${ENGINE.fillerTokens} tokens waits at each replica of its home: staying is cheaper`,
      tell: async () => {
        await stack.hold(NEAR, FILLERS_THAT_DO_NOT_PAY);
        await queued(100);
        const told = await stage.turn(LATER_PROMPT_TOKENS, first);
        expectTurn(told.turn, "pinned", (region) => region === NEAR);
        const { verdict, marginMs } = told.decision;
        const leadMs = verdict.leadMs ?? 0;
        expect(leadMs >= CLEARLY * marginMs, `leads by ${leadMs} ms, the margin is ${marginMs} ms`);
        return toldOf(told);
      },
    },
    {
      title: `${FILLERS_THAT_PAY} wait at each replica: leaving costs less than staying`,
      tell: async () => {
        await stack.hold(NEAR, FILLERS_THAT_PAY);
        const queuedMs = (FILLERS_THAT_PAY * ENGINE.fillerTokens * 1_000) / ENGINE.prefillTokensPerSecond;
        await queued(queuedMs / 2);
        const told = await stage.turn(LATER_PROMPT_TOKENS, first);
        await stack.hold(NEAR, 0);
        expectTurn(told.turn, "migrated", (region) => region !== NEAR);
        const { verdict, marginMs } = told.decision;
        expect(verdict.savedMs >= CLEARLY * marginMs, `saves ${verdict.savedMs} ms, the margin is ${marginMs} ms`);
        return toldOf(told);
      },
    },
  ];
};

const backlogsOf = (region: RegionView): readonly number[] => {
  const backlogs = region.placements.flatMap(({ replicas }) => replicas.map(({ backlogMs }) => backlogMs));
  return backlogs.length === 0 ? [0] : backlogs;
};
