/** Questions over retrieved passages, drawn from what RAGPulse (a university's service, 5 167 requests of five days) measures. */
import { blockName, textOfConversation, textOfShared } from "./block-names.ts";
import type { Kind } from "./kind.ts";
import { drawn, drawnWhole, quantiles } from "./quantiles.ts";

/** The system prompt: a first part in three variants, a second that changes with date and service. */
const PART_TOKENS = 512;
const FIRST_PARTS = [0.772, 0.969, 1] as const;
/** Share of requests whose second part was seen before, and how many such parts are about. */
const SECOND_SEEN = 0.8;
const SECOND_PARTS = 12;

/** First questions are shorter, later ones carry a history. */
const FIRST_REST = 0.9;
const LATER_REST = 1.13;
/** Tokens behind the system prompt: passages, history, what the web said, the question; nothing of it is ever alike. */
const REST = quantiles(
  [0, 28],
  [0.05, 31],
  [0.1, 98],
  [0.2, 972],
  [0.3, 1_853],
  [0.4, 2_000],
  [0.5, 2_118],
  [0.6, 2_226],
  [0.7, 2_340],
  [0.8, 2_505],
  [0.9, 2_901],
  [0.95, 3_338],
  [0.98, 3_868],
  [0.99, 4_245],
  [0.999, 5_410],
  [1, 6_688],
);
const OUTPUT = quantiles(
  [0, 7],
  [0.01, 36],
  [0.05, 66],
  [0.1, 81],
  [0.2, 108],
  [0.3, 145],
  [0.4, 183],
  [0.5, 226],
  [0.6, 275],
  [0.7, 337],
  [0.8, 424],
  [0.9, 556],
  [0.95, 659],
  [0.98, 784],
  [0.99, 909],
  [0.999, 1_218],
  [1, 2_183],
);
/** From question to question, seconds. */
const GAP_SECONDS = quantiles(
  [0, 1],
  [0.01, 6],
  [0.05, 11],
  [0.1, 14],
  [0.2, 20],
  [0.3, 25],
  [0.4, 32],
  [0.5, 41],
  [0.6, 52],
  [0.7, 69],
  [0.8, 105],
  [0.9, 277],
  [0.95, 880],
  [0.98, 7_288],
  [0.99, 36_046],
  [1, 396_060],
);
const CONTINUES = [0.406, 0.421, 0.453, 0.527, 0.593, 0.729] as const;

const continuesAfter = (turn: number): number => CONTINUES[Math.min(turn, CONTINUES.length) - 1] ?? 0;

export const RETRIEVAL: Kind = {
  gapsFrom: "question",
  blockTokens: 512,
  longestPromptTokens: 32_000,
  begin: ({ dice, number, blockTokens, longestPromptTokens }) => {
    const first = dice();
    const firstPart = textOfShared(1_000 + FIRST_PARTS.findIndex((share) => first < share));
    let turn = 0;
    return () => {
      const gapMs = drawn(dice, GAP_SECONDS) * 1_000;
      if (turn > 0 && dice() >= continuesAfter(turn)) return null;
      turn += 1;
      const promptTokens = Math.min(
        2 * PART_TOKENS + Math.round(drawn(dice, REST) * (turn === 1 ? FIRST_REST : LATER_REST)),
        longestPromptTokens,
      );
      const outputTokens = drawnWhole(dice, OUTPUT);
      const own = textOfConversation(number) + turn * OWN_TEXTS;
      const secondPart = dice() < SECOND_SEEN ? firstPart + 10 * (1 + Math.floor(SECOND_PARTS * dice() ** 2)) : own;
      const textAt = (end: number) => (end <= PART_TOKENS ? firstPart : end <= 2 * PART_TOKENS ? secondPart : own);
      const blocks = Array.from({ length: Math.floor((promptTokens + outputTokens) / blockTokens) }, (_, at) =>
        blockName(textAt((at + 1) * blockTokens), at),
      );
      return { promptTokens, outputTokens, blocks, gapMs };
    };
  },
};

/** Further than any conversation's number: each turn's rest is a text of its own. */
const OWN_TEXTS = 2 ** 40;
