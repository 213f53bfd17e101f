/** Coding agents, drawn from what 471 Claude Code sessions (27 080 requests, kv-cache-tester) measure, cut at 160 000 tokens. */
import { createDice, type Dice } from "../dice.ts";
import { extendBlocks, textOfConversation, textOfShared } from "./block-names.ts";
import type { Kind } from "./kind.ts";
import { drawn, drawnWhole, quantiles, valueAt } from "./quantiles.ts";

/** Tools and system prompt together; every pair of them is a text of its own that its sessions share. */
const SHARED_TOKENS = quantiles(
  [0, 8_427],
  [0.05, 9_557],
  [0.1, 11_410],
  [0.2, 12_573],
  [0.3, 12_946],
  [0.5, 14_758],
  [0.7, 15_331],
  [0.9, 15_930],
  [0.95, 16_799],
  [0.98, 21_080],
  [1, 23_081],
);
/** Distinct pairs in the trace, and unevenly used: the square of a uniform number draws pair n as 1/√n. */
const SHARED_PROMPTS = 212;
const FIRST_SHARED = 100;

/** Tokens of a session's first prompt beyond tools and system prompt: half of them resume an older session. */
const FIRST = quantiles(
  [0, 111],
  [0.01, 159],
  [0.05, 468],
  [0.1, 580],
  [0.2, 2_434],
  [0.3, 3_592],
  [0.4, 5_621],
  [0.5, 20_571],
  [0.6, 48_692],
  [0.7, 58_705],
  [0.8, 86_487],
  [0.9, 107_905],
  [0.95, 121_767],
  [0.98, 133_351],
  [1, 148_425],
);
const OUTPUT = quantiles(
  [0, 1],
  [0.01, 59],
  [0.05, 92],
  [0.1, 107],
  [0.2, 132],
  [0.3, 157],
  [0.4, 190],
  [0.5, 233],
  [0.6, 285],
  [0.7, 372],
  [0.8, 508],
  [0.9, 839],
  [0.95, 1_405],
  [0.98, 2_538],
  [0.99, 3_601],
  [0.999, 7_044],
  [1, 18_195],
);
/** What a turn adds beside the answer before; negative where the client trims it. */
const NEW = quantiles(
  [0, -100],
  [0.05, -28],
  [0.1, 8],
  [0.2, 41],
  [0.3, 112],
  [0.4, 210],
  [0.5, 327],
  [0.6, 495],
  [0.7, 791],
  [0.8, 1_369],
  [0.9, 2_733],
  [0.95, 4_773],
  [0.98, 9_760],
  [0.99, 14_278],
  [0.999, 63_163],
  [1, 132_605],
);
/** From answer to question, seconds: tools run, or a person reads. */
const THINK_SECONDS = quantiles(
  [0, 0],
  [0.01, 2],
  [0.05, 4],
  [0.1, 4],
  [0.2, 6],
  [0.3, 7],
  [0.4, 9],
  [0.5, 11],
  [0.6, 17],
  [0.7, 31],
  [0.8, 70],
  [0.9, 209],
  [0.95, 608],
  [0.98, 2_464],
  [0.99, 3_184],
  [0.999, 13_726],
  [1, 77_589],
);
/** Turns a session would have, were none ended by its length. */
const TURNS = quantiles(
  [0, 3],
  [0.05, 4],
  [0.1, 6],
  [0.2, 12],
  [0.3, 18],
  [0.4, 24],
  [0.5, 33],
  [0.6, 44],
  [0.7, 57],
  [0.8, 84],
  [0.9, 140],
  [0.95, 210],
  [0.98, 282],
  [0.99, 330],
  [1, 439],
);
/** Long sessions begin with short prompts and grow slowly: the exponent of the share that a first prompt is drawn at, and a factor. */
const HABITS = [
  { belowTurns: 10, firstExponent: 0.55, growth: 1.25 },
  { belowTurns: 40, firstExponent: 0.85, growth: 1.2 },
  { belowTurns: 80, firstExponent: 1.1, growth: 1 },
  { belowTurns: 160, firstExponent: 1.45, growth: 0.85 },
  { belowTurns: Number.POSITIVE_INFINITY, firstExponent: 1.9, growth: 0.8 },
] as const;

/**
 * Share of turns whose prompt is not the continuation of the one before; mostly all behind tools and system prompt is new.
 * Short of the limit it is an edit that leaves the length about as it was, near it a compaction.
 */
const REWRITES = 0.019;
const REWRITES_NEAR_LIMIT = 0.076;
const NEAR_LIMIT = 0.875;
const LENGTH_AFTER_EDIT = quantiles([0, 0.3], [0.1, 0.6], [0.2, 0.95], [0.5, 1.01], [0.8, 1.04], [0.9, 1.3], [1, 4]);
const LENGTH_AFTER_COMPACTION = quantiles(
  [0, 0.15],
  [0.1, 0.225],
  [0.3, 0.344],
  [0.5, 0.555],
  [0.7, 0.791],
  [0.9, 1],
  [1, 1.05],
);
/** Of what is rewritten, how often tools and system prompt stay. */
const KEEPS_SHARED = 0.88;

export const AGENTS: Kind = {
  gapsFrom: "answer",
  blockTokens: 512,
  longestPromptTokens: 160_000,
  begin: ({ dice, number, blockTokens, longestPromptTokens }) => {
    const prompt = Math.floor(SHARED_PROMPTS * dice() ** 2);
    const sharedTokens = Math.round(valueAt(SHARED_TOKENS, createDice(prompt)()));
    const turns = drawnWhole(dice, TURNS);
    const { firstExponent, growth } = HABITS.find(({ belowTurns }) => turns < belowTurns) ?? HABITS[0];
    let promptTokens = Math.min(
      sharedTokens + Math.round(valueAt(FIRST, dice() ** firstExponent)),
      longestPromptTokens,
    );
    let outputTokens = 0;
    let blocks: number[] = [];
    /** Each rewriting makes the rest a new text. */
    let text = textOfConversation(number);
    extendBlocks(blocks, textOfShared(FIRST_SHARED + prompt), sharedTokens, blockTokens);
    let turn = 0;
    return () => {
      if (turn === turns) return null;
      const gapMs = drawn(dice, THINK_SECONDS) * 1_000;
      const rewritten = turn === 0 ? null : lengthRewritten(dice, promptTokens, longestPromptTokens);
      if (rewritten !== null) {
        promptTokens = Math.max(sharedTokens + LEAST_TOKENS, rewritten);
        blocks = blocks.slice(0, dice() < KEEPS_SHARED ? Math.floor(sharedTokens / blockTokens) : 0);
        text += REWRITTEN_TEXT;
      } else if (turn > 0) {
        promptTokens += Math.max(1, Math.round(outputTokens + growth * drawn(dice, NEW)));
      }
      if (promptTokens > longestPromptTokens) return null;
      turn += 1;
      outputTokens = drawnWhole(dice, OUTPUT);
      extendBlocks(blocks, text, promptTokens + outputTokens, blockTokens);
      return { promptTokens, outputTokens, blocks, gapMs };
    };
  },
};

/** @returns the new length of a prompt that is rewritten; null: it goes on as it is */
const lengthRewritten = (dice: Dice, promptTokens: number, longest: number): number | null => {
  const isNearLimit = promptTokens > NEAR_LIMIT * longest;
  if (dice() >= (isNearLimit ? REWRITES_NEAR_LIMIT : REWRITES)) return null;
  return Math.round(promptTokens * drawn(dice, isNearLimit ? LENGTH_AFTER_COMPACTION : LENGTH_AFTER_EDIT));
};

/** Behind tools and system prompt. */
const LEAST_TOKENS = 64;
/** Further than any conversation's number. */
const REWRITTEN_TEXT = 2 ** 40;
