/** Waits for a condition, not for a time. */
import { setTimeout as pause } from "node:timers/promises";

/** What takes a moment takes many where the machine is busy; only what never comes true takes this long. */
const PATIENCE_MS = 30_000;

/** @throws {Error} when it does not come true within half a minute */
export const until = async (isTrue: () => boolean | Promise<boolean>, what = "the condition"): Promise<void> => {
  const givenUpAt = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > givenUpAt) throw new Error(`${what} did not come true within ${PATIENCE_MS / 1_000} s`);
    await pause(2);
  }
};
