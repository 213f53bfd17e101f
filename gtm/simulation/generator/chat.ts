/** Chats, drawn from what the Mooncake conversation trace (Kimi, FAST'25; 7 851 requests of 2 400 s) measures. */
import { createDice } from "../dice.ts";
import { blockName, extendBlocks, textOfConversation, textOfShared } from "./block-names.ts";
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
/** Share of conversations with another turn after turn 1, 2, …; the last holds for all later ones. */
const CONTINUES = [0.241, 0.364, 0.518, 0.514, 0.622, 0.608, 0.65] as const;

/** Share of first prompts that begin as an earlier conversation's did, and how many tokens they have in common. */
const SHARES_DOCUMENT = 0.095;
const DOCUMENT_TOKENS = quantiles([0, 1_024], [0.25, 1_536], [0.5, 3_072], [0.75, 8_192], [0.9, 17_920], [1, 74_240]);

/** How long before that conversation began. */
const DOCUMENT_AGE_SECONDS = quantiles([0, 9], [0.1, 39], [0.25, 69], [0.5, 120], [0.75, 252], [0.9, 531], [1, 1_788]);

export const CHAT: Kind = {
  gapsFrom: "question",
  blockTokens: 512,
  longestPromptTokens: 128_000,
  begin: (draw) => {
    const { dice, number, blockTokens } = draw;
    let promptTokens = firstPromptOf(draw, number);
    const blocks = firstBlocks(draw, promptTokens);
    let turn = 0;
    let outputTokens = 0;
    return () => {
      const gapMs = drawn(dice, GAP_SECONDS) * 1_000;
      if (turn > 0) {
        if (dice() >= (CONTINUES[Math.min(turn, CONTINUES.length) - 1] ?? 0)) return null;
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

/** The same whoever asks, so that who shares a document knows how long its first reader's prompt was. */
const firstPromptOf = ({ seed, longestPromptTokens }: ConversationDraw, number: number): number =>
  Math.min(
    SYSTEM_TOKENS + Math.round(valueAt(FIRST, createDice(Math.imul(number, 0x9e3779b1) ^ seed)())),
    longestPromptTokens,
  );

const firstBlocks = (draw: ConversationDraw, promptTokens: number): number[] => {
  const { dice, blockTokens } = draw;
  const blocks: number[] = [];
  extendBlocks(blocks, SYSTEM_PROMPT, Math.min(SYSTEM_TOKENS, promptTokens), blockTokens);
  if (dice() >= SHARES_DOCUMENT) return blocks;
  const earlier = draw.earlier(dice, drawn(dice, DOCUMENT_AGE_SECONDS));
  if (earlier === null) return blocks;
  const shared = Math.min(drawn(dice, DOCUMENT_TOKENS), firstPromptOf(draw, earlier), promptTokens);
  const text = textOfConversation(earlier);
  for (let at = blocks.length; at < Math.floor(shared / blockTokens); at++) blocks.push(blockName(text, at));
  return blocks;
};
