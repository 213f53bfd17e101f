/** Waits for a condition, not for a time. */
import { setTimeout as pause } from "node:timers/promises";

/** @throws {Error} when it does not come true within ten seconds */
export const until = async (isTrue: () => boolean | Promise<boolean>, what = "the condition"): Promise<void> => {
  const givenUpAt = performance.now() + 10_000;
  while (!(await isTrue())) {
    if (performance.now() > givenUpAt) throw new Error(`${what} did not come true within 10 s`);
    await pause(2);
  }
};
