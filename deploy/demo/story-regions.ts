/** The story's steps about regions that people drain and regions that die. */
import { DISPLACED_WITHIN_MS } from "./conversation.ts";
import { expect, seconds } from "./expectation.ts";
import type { GtmSeat } from "./stack.ts";
import { ALL_REGIONS, expectTurn, LATER_PROMPT_TOKENS, type Stage, type Step, toldOf } from "./stage.ts";

export const drainStep = (stage: Stage): Step => {
  const { first, other, conversation, patience } = stage;
  const atOther = stage.isShared ? `, ordered at ${first.instance}` : "";
  return {
    title: `its new home is drained${atOther}: the next turn${stage.isShared ? `, at ${other.instance},` : ""} leaves`,
    tell: async () => {
      const home = conversation.home();
      if (stage.isShared) await stage.homeKnown();
      await patience.insist(() => first.admin.drainAll(home, "the demo drains it"), `draining ${home}`);
      await stage.everywhere([home], ({ admin }) => admin === "drain-all", "is drained");
      const told = await stage.turn(LATER_PROMPT_TOKENS, other);
      expectTurn(told.turn, "displaced", (region) => region !== home);
      return toldOf(told);
    },
  };
};

export const undrainStep = (stage: Stage): Step => {
  const { other, patience } = stage;
  return {
    title: "the drain is undone, and every region takes conversations again",
    tell: async () => {
      for (const { id, admin } of await other.admin.regions()) {
        if (admin === "active") continue;
        await patience.insist(() => other.admin.undrain(id, "the demo undoes it"), `taking back ${id} ${admin}`);
      }
      await stage.everywhere(ALL_REGIONS, ({ admin }) => admin === "active", "is active");
      return ALL_REGIONS.map((region) => `${region} active`).join(", ");
    },
  };
};

export type Death = {
  /** @param when such as " while Redis is away" */
  readonly kill: (when: string) => Step;
  /** Of the region that was killed. */
  readonly revive: Step;
};

/** The region that is the conversation's home at that time. */
export const deathSteps = (stage: Stage): Death => {
  const { stack, conversation } = stage;
  let dead = "";
  return {
    kill: (when) => ({
      title: `its region is killed${when}: displaced within ${DISPLACED_WITHIN_MS / 1_000} s, by redirect and by DNS`,
      tell: async () => {
        dead = conversation.home();
        await stack.kill(dead);
        const diedAtMs = performance.now();
        const seen = await Promise.all(stack.gtms.map((gtm) => leaving(stage, { dead, diedAtMs, gtm })));
        const turn = await conversation.say(LATER_PROMPT_TOKENS, stage.first);
        expect(turn.region !== dead, `still in ${turn.region}`);
        return `${dead} → ${turn.region}, ${seen.join("; ")}; a caching resolver lingers up to the TTL`;
      },
    }),
    revive: {
      title: "the region is started again and becomes healthy",
      tell: async () => {
        await stack.revive(dead);
        const [region] = await stage.everywhere([dead], ({ health }) => health === "healthy", "is healthy again");
        return `${dead} is ${region?.health}, its report ${region?.reportAgeMs} ms old`;
      },
    },
  };
};

const leaving = async (
  { conversation, isShared }: Stage,
  { dead, diedAtMs, gtm }: { readonly dead: string; readonly diedAtMs: number; readonly gtm: GtmSeat },
): Promise<string> => {
  const byRedirectMs = await conversation.redirectedAwayFrom(dead, diedAtMs, gtm);
  const byDnsMs = await conversation.resolvedAwayFrom(dead, diedAtMs, gtm);
  const who = isShared ? `${gtm.instance}: ` : "";
  return `${who}by redirect after ${seconds(byRedirectMs)}, by DNS after ${seconds(byDnsMs)}`;
};
