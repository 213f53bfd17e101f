/** Clients that hold conversations: how many turns, how long each prompt, how long they think. Drawn from seeded dice. */
import { CITIES, type City } from "./cities.ts";
import { createDice, type Dice, logNormal, pickWeighted } from "./dice.ts";
import { lastMileMs } from "./network.ts";
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "./serving/block-hash.ts";

/** A kind of client; times and tokens as median and 90th percentile of a log-normal. */
export type Habit = {
  /** Shared by all clients of the kind. */
  readonly systemTokens: number;
  readonly firstMessage: Spread;
  /** Tokens that a turn adds to the context: the answer before and the new message. */
  readonly growth: Spread;
  readonly thinkMs: Spread;
  /** Share of turns that are followed by another. */
  readonly nextTurnFraction: number;
  /** Where a conversation ends at the latest. */
  readonly longestPromptTokens: number;
};
type Spread = { readonly p50: number; readonly p90: number };

/** Growth and think times from steering's "numbers to check a model against"; the rest is chosen. */
export const CHAT: Habit = {
  systemTokens: 1_024,
  firstMessage: { p50: 2_000, p90: 12_000 },
  growth: { p50: 480, p90: 2_000 },
  thinkMs: { p50: 126_000, p90: 480_000 },
  nextTurnFraction: 0.75,
  longestPromptTokens: 100_000,
};
export const CODING_AGENT: Habit = {
  systemTokens: 8_192,
  firstMessage: { p50: 4_000, p90: 20_000 },
  growth: { p50: 650, p90: 3_000 },
  thinkMs: { p50: 10_000, p90: 165_000 },
  nextTurnFraction: 0.93,
  longestPromptTokens: 100_000,
};

/** Answers are this share of what a turn adds. */
const OUTPUT_FRACTION = 0.4;
const LEAST_GROWTH = 32;

export type Conversation = {
  readonly number: number;
  /** Hashes of the full blocks so far; grows with the conversation. */
  readonly blocks: readonly number[];
};

export type PlannedTurn = {
  readonly conversation: Conversation;
  /** From 1. */
  readonly turn: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Between the answer's end and the next turn, be it of this conversation or of another. */
  readonly thinkMs: number;
};

export type User = {
  readonly city: City;
  readonly lastMileMs: number;
  /** When its first turn comes: as if all had begun long ago. */
  readonly startsAtMs: number;
  readonly nextTurn: () => PlannedTurn;
};

export type WorkloadOptions = { readonly chats: number; readonly agents: number; readonly seed: number };

/** Every user has dice of its own, so that each says the same in the same order whatever policy serves it. */
export const createUsers = ({ chats, agents, seed }: WorkloadOptions): readonly User[] =>
  Array.from({ length: chats + agents }, (_, number) =>
    createUser(number < chats ? CHAT : CODING_AGENT, number, createDice(seed * 1_000_003 + number)),
  );

const createUser = (habit: Habit, number: number, dice: Dice): User => {
  const city = CITIES[
    pickWeighted(
      dice,
      CITIES.map(({ weight }) => weight),
    )
  ] as City;
  let conversations = 0;
  let current: {
    readonly conversation: Conversation;
    readonly blocks: number[];
    promptTokens: number;
    turn: number;
  } | null = null;

  const begin = () => {
    conversations += 1;
    const blocks: number[] = [];
    const conversation = { number: number * CONVERSATIONS_A_USER + conversations, blocks };
    const promptTokens = habit.systemTokens + drawn(dice, habit.firstMessage);
    return { conversation, blocks, promptTokens: Math.min(promptTokens, habit.longestPromptTokens), turn: 1 };
  };
  return {
    city,
    lastMileMs: lastMileMs(dice),
    startsAtMs: dice() * drawn(dice, habit.thinkMs),
    nextTurn: () => {
      current ??= begin();
      const { conversation, blocks, promptTokens, turn } = current;
      const growth = Math.max(LEAST_GROWTH, drawn(dice, habit.growth));
      const outputTokens = Math.max(1, Math.floor(growth * OUTPUT_FRACTION));
      extend(blocks, promptTokens + outputTokens, habit.systemTokens, conversation.number);
      const planned = { conversation, turn, promptTokens, outputTokens, thinkMs: drawn(dice, habit.thinkMs) };
      const isLast = dice() >= habit.nextTurnFraction || promptTokens + growth > habit.longestPromptTokens;
      current = isLast ? null : { ...current, promptTokens: promptTokens + growth, turn: turn + 1 };
      return planned;
    },
  };
};

const CONVERSATIONS_A_USER = 100_000;

const drawn = (dice: Dice, { p50, p90 }: Spread): number => Math.round(logNormal(dice, p50, p90));

/** Blocks wholly inside the system prompt are the same for everybody, those after it for nobody else. */
const extend = (blocks: number[], tokens: number, systemTokens: number, conversation: number): void => {
  for (let at = blocks.length; at < Math.floor(tokens / BLOCK_TOKENS); at++) {
    const isShared = (at + 1) * BLOCK_TOKENS <= systemTokens;
    blocks.push(chainHash(blocks[at - 1] ?? ROOT_HASH, [isShared ? -systemTokens : conversation], 0, 1));
  }
};
