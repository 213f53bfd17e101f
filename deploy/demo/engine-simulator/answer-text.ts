/** What the simulated model says: words of four bytes with their space, one a token, the same for the same prompt. */
import { createDice } from "#gtm/simulation/dice.ts";

const WORDS =
  "the and for are but not you all any can her was one our out day get has him his how man new now old see two way who boy did its let put say she too use";
const words = WORDS.split(" ");

const SHORTEST_TOKENS = 32;
const LONGEST_TOKENS = 256;

export type Answer = { readonly tokens: number; readonly text: string; readonly finishReason: "stop" | "length" };

export type AnswerWish = {
  /** Of the prompt. */
  readonly fingerprint: number;
  readonly seed: number;
  /** null: as long as the model likes. */
  readonly maxTokens: number | null;
  /** Writes all of `maxTokens`, where it is given. */
  readonly isEosIgnored: boolean;
  /** What the context leaves for an answer, at least 1. */
  readonly roomTokens: number;
};

export const answerTo = ({ fingerprint, seed, maxTokens, isEosIgnored, roomTokens }: AnswerWish): Answer => {
  const dice = createDice(fingerprint ^ seed);
  const likes = SHORTEST_TOKENS + Math.floor(dice() * (LONGEST_TOKENS - SHORTEST_TOKENS + 1));
  const most = maxTokens ?? roomTokens;
  const isCut = most < likes || (isEosIgnored && maxTokens !== null);
  const tokens = isCut ? most : likes;
  let text = "";
  for (let i = 0; i < tokens; i++) text += `${words[Math.floor(dice() * words.length)] ?? "the"} `;
  return { tokens, text, finishReason: isCut ? "length" : "stop" };
};
