/** That a front door has come through: it serves others as ever, and no bug came to light. */
import assert from "node:assert/strict";
import type { RunningFrontDoor } from "./front-door.ts";
import { ask } from "./http-ask.ts";

export const stillServes = async (front: RunningFrontDoor): Promise<void> => {
  const { status, headers } = await ask(front, {});
  assert.equal(status, 307, "others are served");
  assert.equal(headers.get("x-gtm-region"), "frankfurt");
  const bugs = front.lines.filter(({ event }) => event === "http.bug");
  assert.deepEqual(bugs, [], "no bug came to light");
};
