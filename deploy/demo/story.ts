/** The story of one conversation, told without hands: each step happens for real and fails unless it came out as it says. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import type { AdminApi } from "./admin.ts";
import { createConversation, DISPLACED_WITHIN_MS } from "./conversation.ts";
import { expect, seconds } from "./expectation.ts";
import { ENGINE } from "./places.ts";
import type { Stack } from "./stack.ts";
import type { Turn } from "./turn.ts";

export type Step = { readonly title: string; readonly tell: () => Promise<string> };

/** First prompt: at 8 000 tokens/s one and a half seconds to compute, and as much to compute again. */
const FIRST_PROMPT_TOKENS = 12_000;
const LATER_PROMPT_TOKENS = 200;
const FILLERS_THAT_DO_NOT_PAY = 1;
const FILLERS_THAT_PAY = 24;
/** A step that came out by a hair would not come out tomorrow. */
const CLEARLY = 1.5;
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** @param stack running, without traffic of its own */
export const storyOf = (stack: Stack): readonly Step[] => {
  const { admin } = stack;
  const conversation = createConversation(stack);
  const decided = (turn: Turn): Promise<DecisionView> => admin.decision(turn.decision);
  let homeless = "";

  return [
    {
      title: `the first turn, ${FIRST_PROMPT_TOKENS} tokens from Frankfurt, is placed near its client`,
      tell: async () => {
        const turn = await conversation.say(FIRST_PROMPT_TOKENS);
        expect(turn.verdict === "placed" && turn.region === "eu-central", `${turn.verdict} in ${turn.region}`);
        return told(turn, await decided(turn));
      },
    },
    {
      title: "the second turn returns to the region that holds its context",
      tell: async () => {
        const turn = await conversation.say(LATER_PROMPT_TOKENS);
        expect(turn.verdict === "pinned" && turn.region === "eu-central", `${turn.verdict} in ${turn.region}`);
        const cachedFraction = turn.cachedTokens / turn.promptTokens;
        expect(cachedFraction > 0.9, `only ${turn.cachedTokens} of ${turn.promptTokens} tokens were cached`);
        return told(turn, await decided(turn));
      },
    },
    {
      title: `${FILLERS_THAT_DO_NOT_PAY} prompt of ${ENGINE.fillerTokens} tokens waits at each replica of its home: staying is cheaper`,
      tell: async () => {
        await stack.hold("eu-central", FILLERS_THAT_DO_NOT_PAY);
        await until(admin, "eu-central", (region) => backlogsOf(region).every((ms) => ms > 100), "reports the queue");
        const turn = await conversation.say(LATER_PROMPT_TOKENS);
        expect(turn.verdict === "pinned" && turn.region === "eu-central", `${turn.verdict} in ${turn.region}`);
        const decision = await decided(turn);
        const leadMs = decision.verdict.leadMs ?? 0;
        expect(leadMs >= CLEARLY * decision.marginMs, `leads by ${leadMs} ms, the margin is ${decision.marginMs} ms`);
        return told(turn, decision);
      },
    },
    {
      title: `${FILLERS_THAT_PAY} wait at each replica: leaving costs less than staying`,
      tell: async () => {
        await stack.hold("eu-central", FILLERS_THAT_PAY);
        const queuedMs = (FILLERS_THAT_PAY * ENGINE.fillerTokens * 1_000) / ENGINE.prefillTokensPerSecond;
        await until(
          admin,
          "eu-central",
          (region) => backlogsOf(region).every((ms) => ms > queuedMs / 2),
          "reports the queue",
        );
        const turn = await conversation.say(LATER_PROMPT_TOKENS);
        await stack.hold("eu-central", 0);
        expect(turn.verdict === "migrated" && turn.region !== "eu-central", `${turn.verdict} in ${turn.region}`);
        const decision = await decided(turn);
        const { savedMs } = decision.verdict;
        expect(savedMs >= CLEARLY * decision.marginMs, `saves ${savedMs} ms, the margin is ${decision.marginMs} ms`);
        return told(turn, decision);
      },
    },
    {
      title: "its new home is drained: the next turn leaves",
      tell: async () => {
        const home = conversation.home();
        await admin.drainAll(home, "the demo drains it");
        const turn = await conversation.say(LATER_PROMPT_TOKENS);
        expect(turn.verdict === "displaced" && turn.region !== home, `${turn.verdict} in ${turn.region}`);
        return told(turn, await decided(turn));
      },
    },
    {
      title: "the drain is undone, and every region takes conversations again",
      tell: async () => {
        for (const { id, admin: state } of await admin.regions())
          if (state !== "active") await admin.undrain(id, "the demo undoes it");
        const states = (await admin.regions()).map((region) => `${region.id} ${region.admin}`);
        expect(
          states.every((state) => state.endsWith(" active")),
          states.join(", "),
        );
        return states.join(", ");
      },
    },
    {
      title: `its region is killed: displaced within ${DISPLACED_WITHIN_MS / 1_000} s, by redirect and by DNS`,
      tell: async () => {
        homeless = conversation.home();
        await stack.kill(homeless);
        const diedAtMs = performance.now();
        const byRedirectMs = await conversation.redirectedAwayFrom(homeless, diedAtMs);
        const byDnsMs = await conversation.resolvedAwayFrom(homeless, diedAtMs);
        const turn = await conversation.say(LATER_PROMPT_TOKENS);
        expect(turn.region !== homeless, `still in ${turn.region}`);
        return `${homeless} → ${turn.region}, by redirect after ${seconds(byRedirectMs)}, by DNS after ${seconds(byDnsMs)}; a caching resolver lingers up to the TTL`;
      },
    },
    {
      title: "the region is started again and becomes healthy",
      tell: async () => {
        await stack.revive(homeless);
        const region = await until(admin, homeless, (one) => one.health === "healthy", "is healthy again");
        return `${region.id} is ${region.health}, its report ${region.reportAgeMs} ms old`;
      },
    },
  ];
};

const until = async (
  admin: AdminApi,
  id: string,
  isSo: (region: RegionView) => boolean,
  what: string,
): Promise<RegionView> => {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const region = await admin.region(id);
    if (isSo(region)) return region;
    expect(performance.now() < deadlineMs, `${id} not seen: ${what}, within ${seconds(PATIENCE_MS)}`);
    await sleep(LOOK_EVERY_MS);
  }
};

const backlogsOf = (region: RegionView): readonly number[] => {
  const backlogs = region.placements.flatMap(({ replicas }) => replicas.map(({ backlogMs }) => backlogMs));
  return backlogs.length === 0 ? [0] : backlogs;
};

const told = (turn: Turn, decision: DecisionView): string => {
  const flips = decision.flipsIf === null ? "" : `\nIt would be otherwise if ${decision.flipsIf}.`;
  return `${turn.verdict} ${turn.region}, first token after ${seconds(turn.ttftMs)}, ${turn.cachedTokens} of ${turn.promptTokens} tokens from cache\n${decision.explanation}${flips}`;
};
