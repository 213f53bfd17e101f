/** Waits for processes: as long as a busy machine may need, and without keeping it busy by asking. */
import { setTimeout as pause } from "node:timers/promises";

const PATIENCE_MS = 30_000;
const ASKED_EVERY_MS = 50;

/** @throws {Error} when it does not come true within thirty seconds */
export const eventually = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const givenUpAtMs = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > givenUpAtMs) throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s`);
    await pause(ASKED_EVERY_MS);
  }
};
