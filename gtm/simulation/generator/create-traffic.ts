/** Traffic without a file: clients whose turns are drawn from what real traces measure. README.md has the figures. */
import type { City } from "../cities.ts";
import { createDice, type Dice, pickWeighted } from "../dice.ts";
import { lastMileMs } from "../network.ts";
import type { Client, Traffic } from "../traffic.ts";
import { AGENTS } from "./agents.ts";
import { arrivals } from "./arrivals.ts";
import { CHAT } from "./chat.ts";
import {
  askAfterAnswers,
  askByTheClock,
  type Conversation,
  type Conversations,
  LONGEST_PAUSE_MS,
  metMidway,
  restOfPauseMs,
} from "./generated-client.ts";
import type { Demand, GeneratorOptions, TrafficKind } from "./generator-options.ts";
import type { ConversationDraw, Kind } from "./kind.ts";
import { RETRIEVAL } from "./retrieval.ts";

const KINDS: Readonly<Record<TrafficKind, Kind>> = { chat: CHAT, agents: AGENTS, retrieval: RETRIEVAL };

type Setting = Pick<ConversationDraw, "seed" | "blockTokens" | "longestPromptTokens"> & { readonly kind: Kind };

export const createTraffic = (kindName: TrafficKind, options: GeneratorOptions): Traffic => {
  const kind = KINDS[kindName];
  const setting: Setting = {
    kind,
    seed: options.seed,
    blockTokens: options.blockTokens ?? kind.blockTokens,
    longestPromptTokens: options.longestPromptTokens ?? kind.longestPromptTokens,
  };
  const { cities, arrivals: loop } = options;
  return {
    blockTokens: setting.blockTokens,
    clients: () => (loop.kind === "closed" ? closedLoop(setting, cities, loop.users) : openLoop(setting, cities, loop)),
  };
};

type Open = Extract<GeneratorOptions["arrivals"], { readonly kind: "open" }>;

/** Chat and retrieval ask by the clock; agents, whose turns wait for their tools, after each answer. */
function* openLoop(setting: Setting, cities: readonly City[], { turnsPerSecond, demand }: Open): Generator<Client> {
  const { turns, pauseMs } = meansOf(setting);
  const perSecond = turnsPerSecond / turns;
  const earlierThan =
    (number: number): ConversationDraw["earlier"] =>
    (_dice, secondsBefore) => {
      const before = number - Math.max(1, Math.round(secondsBefore * perSecond));
      return before < 0 ? null : before;
    };
  const asking = (startsAtMs: number, conversation: Conversation) =>
    setting.kind.gapsFrom === "question"
      ? askByTheClock(startsAtMs, conversation)
      : askAfterAnswers(onlyOne(conversation));

  // Who began before the start is in a pause now, as many as Little's law says.
  const ongoing = Math.round((perSecond * (turns - 1) * pauseMs) / 1_000);
  const clients = Array.from({ length: ongoing }, (_, number): Client => {
    const dice = diceOf(setting.seed, number);
    const begin = () => ({
      number,
      next: setting.kind.begin({ ...setting, dice, number, earlier: earlierThan(number) }),
    });
    const startsAtMs = restOfPauseMs(dice, () => pauseIn(setting, dice));
    return { ...homeOf(dice, cities, demand), startsAtMs, next: asking(startsAtMs, metMidway(dice, begin, true)) };
  }).sort((a, b) => b.startsAtMs - a.startsAtMs);

  let number = ongoing;
  for (const { atMs, city } of arrivals(createDice(setting.seed), cities, perSecond, demand)) {
    while ((clients.at(-1)?.startsAtMs ?? Number.POSITIVE_INFINITY) <= atMs) yield clients.pop() as Client;
    const dice = diceOf(setting.seed, number);
    const own = { city, lastMileMs: lastMileMs(dice), startsAtMs: atMs };
    const next = setting.kind.begin({ ...setting, dice, number, earlier: earlierThan(number) });
    yield { ...own, next: asking(atMs, { number, next }) };
    number += 1;
  }
}

const onlyOne = (conversation: Conversation): Conversations => {
  let left: Conversation | null = conversation;
  return () => {
    const one = left;
    left = null;
    return one;
  };
};

const homeOf = (dice: Dice, cities: readonly City[], demand: Demand | null) => {
  const wants = cities.map((city) => city.weight * (demand === null ? 1 : demand(city, 0)));
  return { city: cities[pickWeighted(dice, wants)] as City, lastMileMs: lastMileMs(dice) };
};

/** All have been asking for ever: they are somewhere in a conversation, and in a pause. */
const closedLoop = (setting: Setting, cities: readonly City[], users: number): Iterator<Client> => {
  const clients = Array.from({ length: users }, (_, user): Client => {
    const dice = diceOf(setting.seed, user);
    let begun = 0;
    const begin = (): Conversation => {
      const ordinal = begun;
      const number = user * CONVERSATIONS_A_USER + ordinal;
      begun += 1;
      const earlier: ConversationDraw["earlier"] = (drawing) => {
        const other = Math.floor(drawing() * users);
        return other === user ? null : other * CONVERSATIONS_A_USER + ordinal;
      };
      return { number, next: setting.kind.begin({ ...setting, dice, number, earlier }) };
    };
    const home = homeOf(dice, cities, null);
    const startsAtMs = restOfPauseMs(dice, () => pauseIn(setting, dice));
    let midway: Conversation | null = metMidway(dice, begin, false);
    const conversations: Conversations = () => {
      const one = midway ?? begin();
      midway = null;
      return one;
    };
    return { ...home, startsAtMs, next: askAfterAnswers(conversations) };
  });
  return clients.sort((a, b) => a.startsAtMs - b.startsAtMs).values();
};

const CONVERSATIONS_A_USER = 100_000;

const diceOf = (seed: number, number: number): Dice =>
  createDice(Math.imul(seed, 1_000_003) + Math.imul(number, 0x9e3779b1));

const withoutBlocks = (setting: Setting, dice: Dice, number: number) =>
  setting.kind.begin({ ...setting, dice, number, earlier: () => null, blockTokens: Number.MAX_VALUE });

/** What lies between two turns: drawn as a conversation's first turn draws it. */
const pauseIn = (setting: Setting, dice: Dice): number => withoutBlocks(setting, dice, 0)()?.gapMs ?? 0;

/** Turns of a conversation and the pause between two, counted over enough of them. */
const meansOf = (setting: Setting): { readonly turns: number; readonly pauseMs: number } => {
  const dice = createDice(1);
  let turns = 0;
  let pausesMs = 0;
  for (let number = 0; number < COUNTED_CONVERSATIONS; number++) {
    const next = withoutBlocks(setting, dice, number);
    for (let turn = next(); turn !== null; turn = next()) {
      turns += 1;
      pausesMs += Math.min(turn.gapMs, LONGEST_PAUSE_MS);
    }
  }
  return { turns: turns / COUNTED_CONVERSATIONS, pauseMs: pausesMs / turns };
};

const COUNTED_CONVERSATIONS = 4_000;
