/** Text of a wanted length, the same for the same seed: what the demo's conversations say. */

const WORDS = [
  "the",
  "region",
  "holds",
  "its",
  "context",
  "and",
  "a",
  "turn",
  "that",
  "lands",
  "elsewhere",
  "pays",
  "for",
  "all",
  "of",
  "it",
  "again",
  "while",
  "people",
  "wait",
  "because",
  "prefill",
  "grows",
  "with",
  "every",
  "token",
  "cached",
  "here",
  "there",
  "still",
  "soon",
  "later",
];

/** The engines of the demo count a token for every four octets. */
export const OCTETS_PER_TOKEN = 4;

/**
 * @param tokens how long the text is to be, in tokens of four octets
 * @param seed two different seeds share no beginning
 */
export const prose = (tokens: number, seed: string): string => {
  const length = tokens * OCTETS_PER_TOKEN;
  let state = 2_166_136_261;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 16_777_619);
  const words = [seed];
  let size = seed.length;
  while (size < length) {
    // Numerical Recipes' linear congruential generator; the high bits choose.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = WORDS[(state >>> 16) % WORDS.length] ?? "the";
    words.push(word);
    size += word.length + 1;
  }
  return words.join(" ").slice(0, length);
};
