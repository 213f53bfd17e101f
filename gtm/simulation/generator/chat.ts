/** Chats, drawn from what the Mooncake conversation trace (Kimi, FAST'25; 7 851 requests of 2 400 s) measures. */
import { createDice } from "../dice.ts";
import { extendBlocks, textOfConversation, textOfShared } from "./block-names.ts";
import type { ConversationDraw, Kind } from "./kind.ts";
import { drawn, drawnWhole, quantiles, valueAt } from "./quantiles.ts";

/** The system prompt of the service: block 0 of all its requests. */
const SYSTEM_TOKENS = 512;
const SYSTEM_PROMPT = textOfShared(1);

/** Tokens of a first prompt beyond the system prompt. */
const FIRST = quantiles(
  [0, 379],
  [0.05, 386],
  [0.1, 397],
  [0.2, 717],
  [0.3, 1_955],
  [0.4, 4_162],
  [0.5, 5_836],
  [0.6, 8_566],
  [0.7, 12_023],
  [0.8, 17_076],
  [0.9, 26_809],
  [0.95, 39_175],
  [0.98, 69_136],
  [0.99, 89_357],
  [0.999, 120_121],
  [1, 124_335],
);
const OUTPUT = quantiles(
  [0, 1],
  [0.01, 3],
  [0.05, 10],
  [0.1, 24],
  [0.2, 98],
  [0.3, 216],
  [0.4, 298],
  [0.5, 356],
  [0.6, 402],
  [0.7, 451],
  [0.8, 510],
  [0.9, 606],
  [0.95, 712],
  [0.98, 914],
  [0.99, 1_170],
  [0.999, 2_000],
  [1, 2_000],
);
/** What a turn adds beside the answer before; the few negative ones, where an answer was cut, are left at 4. */
const NEW = quantiles(
  [0, 4],
  [0.1, 4],
  [0.2, 8],
  [0.3, 12],
  [0.4, 17],
  [0.5, 27],
  [0.6, 53],
  [0.7, 183],
  [0.8, 824],
  [0.9, 4_289],
  [0.95, 7_542],
  [0.98, 12_607],
  [0.99, 17_920],
  [0.999, 38_787],
  [1, 91_467],
);
/** From question to question, seconds. */
const GAP_SECONDS = quantiles(
  [0, 6],
  [0.01, 12],
  [0.05, 30],
  [0.1, 42],
  [0.2, 60],
  [0.3, 75],
  [0.4, 96],
  [0.5, 123],
  [0.6, 162],
  [0.7, 222],
  [0.8, 306],
  [0.9, 438],
  [0.95, 573],
  [0.98, 702],
  [0.99, 972],
  [0.999, 1_518],
  [1, 1_557],
);
/**
 * Share of conversations with another turn after the first, by the length of its prompt, and after turn 2, 3, … (the last
 * holds for all later ones). Between what the whole trace says and what the turns of its
 * first 1 000 s say, whose next could still be seen, so that 2 400 s of it have as many turns a conversation as the trace.
 */
const CONTINUES_FROM_FIRST = [
  { belowTokens: 1_500, share: 0.14 },
  { belowTokens: 5_000, share: 0.37 },
  { belowTokens: 15_000, share: 0.31 },
  { belowTokens: Number.POSITIVE_INFINITY, share: 0.25 },
] as const;
const CONTINUES = [0.4, 0.52, 0.54, 0.66] as const;

/** Share of first prompts that begin as an earlier conversation's did, and how many tokens they have in common. */
const SHARES_DOCUMENT = 0.1;
const DOCUMENT_TOKENS = quantiles([0, 1_024], [0.25, 1_536], [0.5, 3_072], [0.75, 8_192], [0.9, 17_920], [1, 74_240]);

/** How long before that conversation began. */
const DOCUMENT_AGE_SECONDS = quantiles([0, 9], [0.1, 39], [0.25, 69], [0.5, 120], [0.75, 252], [0.9, 531], [1, 1_788]);

export const CHAT: Kind = {
  gapsFrom: "question",
  blockTokens: 512,
  longestPromptTokens: 128_000,
  begin: (draw) => {
    const { dice, number, blockTokens } = draw;
    const { blocks, tokens } = sharedBlocks(draw);
    let promptTokens = Math.max(firstPromptOf(draw, number), tokens);
    let turn = 0;
    let outputTokens = 0;
    return () => {
      const gapMs = drawn(dice, GAP_SECONDS) * 1_000;
      if (turn > 0) {
        if (dice() >= continues(turn, promptTokens)) return null;
        promptTokens += outputTokens + drawnWhole(dice, NEW);
        if (promptTokens > draw.longestPromptTokens) return null;
      }
      turn += 1;
      outputTokens = drawnWhole(dice, OUTPUT);
      extendBlocks(blocks, textOfConversation(number), promptTokens + outputTokens, blockTokens);
      return { promptTokens, outputTokens, blocks, gapMs };
    };
  },
};

const continues = (turn: number, promptTokens: number): number =>
  turn === 1
    ? (CONTINUES_FROM_FIRST.find(({ belowTokens }) => promptTokens < belowTokens)?.share ?? 0)
    : (CONTINUES[Math.min(turn - 1, CONTINUES.length) - 1] ?? 0);

/** The same whoever asks, so that who shares a document knows how long its first reader's prompt was. */
const firstPromptOf = ({ seed, longestPromptTokens }: ConversationDraw, number: number): number =>
  Math.min(
    SYSTEM_TOKENS + Math.round(valueAt(FIRST, createDice(Math.imul(number, 0x9e3779b1) ^ seed)())),
    longestPromptTokens,
  );

/** @returns the blocks that others have too, and their length in tokens */
const sharedBlocks = (draw: ConversationDraw): { readonly blocks: number[]; readonly tokens: number } => {
  const { dice, blockTokens } = draw;
  const blocks: number[] = [];
  extendBlocks(blocks, SYSTEM_PROMPT, SYSTEM_TOKENS, blockTokens);
  const earlier = dice() < SHARES_DOCUMENT ? longestOfEarlier(draw) : null;
  if (earlier === null) return { blocks, tokens: SYSTEM_TOKENS };
  const tokens = Math.max(SYSTEM_TOKENS, Math.min(drawn(dice, DOCUMENT_TOKENS), firstPromptOf(draw, earlier)));
  extendBlocks(blocks, textOfConversation(earlier), tokens, blockTokens);
  return { blocks, tokens: Math.floor(tokens) };
};

/** Documents are long: of three conversations before, it is the one with the longest prompt. */
const longestOfEarlier = (draw: ConversationDraw): number | null => {
  const { dice } = draw;
  const found = [0, 1, 2].map(() => draw.earlier(dice, drawn(dice, DOCUMENT_AGE_SECONDS)));
  let longest: number | null = null;
  for (const one of found) {
    if (one !== null && (longest === null || firstPromptOf(draw, one) > firstPromptOf(draw, longest))) longest = one;
  }
  return longest;
};
