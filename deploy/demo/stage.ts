/** What every step of the story is told with: the programs, the conversation, and what it waits for. */
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { AdminRefusal } from "./admin.ts";
import { type Conversation, createConversation } from "./conversation.ts";
import { expect, seconds } from "./expectation.ts";
import { createPatience, type Patience } from "./patience.ts";
import { PLACES } from "./places.ts";
import type { GtmSeat, Stack } from "./stack.ts";
import type { Turn } from "./turn.ts";

export type Step = { readonly title: string; readonly tell: () => Promise<string> };

export type Stage = {
  readonly stack: Stack;
  readonly first: GtmSeat;
  /** The second GTM; the first again where it is alone. */
  readonly other: GtmSeat;
  readonly isShared: boolean;
  readonly conversation: Conversation;
  readonly patience: Patience;
  /** The next turn, and why it goes where it goes. */
  readonly turn: (newTokens: number, gtm: GtmSeat) => Promise<{ readonly turn: Turn; readonly decision: DecisionView }>;
  /** Waits until every GTM sees these regions so. */
  readonly everywhere: (
    regions: readonly string[],
    isSo: (region: RegionView) => boolean,
    what: string,
  ) => Promise<readonly RegionView[]>;
  /** Waits until every GTM knows where the conversation is at home, so that each can go on without Redis. */
  readonly homeKnown: () => Promise<void>;
};

/** Not found; service unavailable. */
const UNKNOWN: readonly number[] = [404, 503];
/** Of a prompt after the first. */
export const LATER_PROMPT_TOKENS = 200;
export const ALL_REGIONS: readonly string[] = PLACES.map(({ region }) => region);

/** @param say takes a line about a wait that is not part of the story */
export const createStage = (stack: Stack, say: (line: string) => void): Stage => {
  const [first, other = first] = stack.gtms;
  const conversation = createConversation();
  const patience = createPatience(stack.gtms, say);
  return {
    ...{ stack, first, other, conversation, patience, isShared: other !== first },
    turn: async (newTokens, gtm) => {
      const turn = await conversation.say(newTokens, gtm);
      return { turn, decision: await gtm.admin.decision(turn.decision) };
    },
    everywhere: async (regions, isSo, what) => {
      const asked = stack.gtms.flatMap(({ admin, instance }) => regions.map((id) => ({ admin, instance, id })));
      let late = "";
      return await patience.until(
        async () => {
          const views = await Promise.all(asked.map(({ admin, id }) => admin.region(id)));
          const at = views.findIndex((view) => !isSo(view));
          late = `${asked[at]?.id} not seen by ${asked[at]?.instance}`;
          return at === -1 ? views : null;
        },
        () => `${late}: ${what}`,
      );
    },
    homeKnown: async () => {
      const [label, home] = [conversation.label(), conversation.home()];
      await patience.until(
        async () => {
          const homes = await Promise.all(stack.gtms.map((gtm) => homeAt(gtm, label)));
          return homes.every((one) => one === home) ? true : null;
        },
        () => `a GTM does not know that the conversation is at home in ${home}`,
      );
    },
  };
};

/** null: nothing is known of it there, or that cannot be said without the store. */
const homeAt = async ({ admin }: GtmSeat, label: string): Promise<string | null> => {
  try {
    return (await admin.conversation(label)).home;
  } catch (fault) {
    if (fault instanceof AdminRefusal && UNKNOWN.includes(fault.status)) return null;
    throw fault;
  }
};

/** @throws {Error} naming what came instead */
export const expectTurn = (turn: Turn, verdict: string, isThere: (region: string) => boolean): void =>
  expect(turn.verdict === verdict && isThere(turn.region), `${turn.verdict} in ${turn.region}`);

export const toldOf = ({ turn, decision }: { readonly turn: Turn; readonly decision: DecisionView }): string => {
  const flips = decision.flipsIf === null ? "" : `\nIt would be otherwise if ${decision.flipsIf}.`;
  return `${turn.verdict} ${turn.region}, first token after ${seconds(turn.ttftMs)}, ${turn.cachedTokens} of ${turn.promptTokens} tokens from cache\n${decision.explanation}${flips}`;
};
