/** What a step of the story says when it came out otherwise, and how it says times. */

/** @throws {Error} naming what was seen instead */
export const expect = (isSo: boolean, seen: string): void => {
  if (!isSo) throw new Error(`it came out otherwise: ${seen}`);
};

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
