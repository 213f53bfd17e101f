/** Traffic without a file: clients whose turns are drawn from what real traces measure. README.md has the figures. */
import type { City } from "../cities.ts";
import { createDice, type Dice, pickWeighted } from "../dice.ts";
import { lastMileMs } from "../network.ts";
import type { Client, Traffic } from "../traffic.ts";
import { AGENTS } from "./agents.ts";
import { arrivals } from "./arrivals.ts";
import { CHAT } from "./chat.ts";
import { askAfterAnswers, askByTheClock, restOfPauseMs } from "./generated-client.ts";
import type { GeneratorOptions, TrafficKind } from "./generator-options.ts";
import type { ConversationDraw, DrawnTurn, Kind } from "./kind.ts";
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
  const { seed, cities, arrivals: loop } = options;
  return {
    blockTokens: setting.blockTokens,
    clients: () =>
      loop.kind === "closed"
        ? closedLoop(setting, cities, loop.users)
        : openLoop(
            setting,
            arrivals(createDice(seed), cities, loop.turnsPerSecond / meanTurns(setting), loop.demand),
            loop.turnsPerSecond / meanTurns(setting),
          ),
  };
};

/** Chat and retrieval ask by the clock; agents, whose turns wait for their tools, after each answer. */
function* openLoop(
  setting: Setting,
  begins: Iterator<{ atMs: number; city: City }, never>,
  perSecond: number,
): Generator<Client> {
  for (let number = 0; ; number++) {
    const { atMs, city } = begins.next().value;
    const dice = diceOf(setting.seed, number);
    const own = { city, lastMileMs: lastMileMs(dice), startsAtMs: atMs };
    const earlier: ConversationDraw["earlier"] = (_dice, secondsBefore) => {
      const before = number - Math.max(1, Math.round(secondsBefore * perSecond));
      return before < 0 ? null : before;
    };
    const next = setting.kind.begin({ ...setting, dice, number, earlier });
    if (setting.kind.gapsFrom === "question") yield { ...own, next: askByTheClock(atMs, number, next) };
    else yield { ...own, next: askAfterAnswers(onlyOne(number, next), 0) };
  }
}

const onlyOne = (number: number, next: () => DrawnTurn | null) => {
  let isLeft = true;
  return () => {
    if (!isLeft) return null;
    isLeft = false;
    return { number, next };
  };
};

/** All have been asking for ever: they are somewhere in a conversation, and in a pause. */
const closedLoop = (setting: Setting, cities: readonly City[], users: number): Iterator<Client> => {
  const weights = cities.map(({ weight }) => weight);
  const clients = Array.from({ length: users }, (_, user): Client => {
    const dice = diceOf(setting.seed, user);
    const city = cities[pickWeighted(dice, weights)] as City;
    const own = { city, lastMileMs: lastMileMs(dice) };
    let begun = 0;
    const begin = () => {
      const number = user * CONVERSATIONS_A_USER + begun;
      const ordinal = begun;
      begun += 1;
      const earlier: ConversationDraw["earlier"] = (drawing) => {
        const other = Math.floor(drawing() * users);
        return other === user ? null : other * CONVERSATIONS_A_USER + ordinal;
      };
      return { number, next: setting.kind.begin({ ...setting, dice, number, earlier }) };
    };
    const pause = () => setting.kind.begin({ ...setting, dice, number: 0, earlier: () => null })()?.gapMs ?? 0;
    const startsAtMs = restOfPauseMs(dice, pause);
    return { ...own, startsAtMs, next: askAfterAnswers(begin, Math.floor(dice() * MOST_SKIPPED_TURNS)) };
  });
  return clients.sort((a, b) => a.startsAtMs - b.startsAtMs).values();
};

const CONVERSATIONS_A_USER = 100_000;
/** Enough for any kind's conversations to be met at any of their turns. */
const MOST_SKIPPED_TURNS = 400;

const diceOf = (seed: number, number: number): Dice =>
  createDice(Math.imul(seed, 1_000_003) + Math.imul(number, 0x9e3779b1));

/** Turns of a conversation, counted over enough of them. */
const meanTurns = (setting: Setting): number => {
  const dice = createDice(1);
  let turns = 0;
  for (let number = 0; number < COUNTED_CONVERSATIONS; number++) {
    const next = setting.kind.begin({ ...setting, dice, number, earlier: () => null, blockTokens: Number.MAX_VALUE });
    while (next() !== null) turns += 1;
  }
  return turns / COUNTED_CONVERSATIONS;
};

const COUNTED_CONVERSATIONS = 4_000;
