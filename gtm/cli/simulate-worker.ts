/** A thread of `gtm simulate`: plays one run after another and says what came of it. */
import { parentPort } from "node:worker_threads";
import { OperationalError } from "#shared/errors.ts";
import { createPlayer } from "./simulate-play.ts";
import type { Play, PlaySaid } from "./simulate-workers.ts";

if (parentPort === null) throw new Error("this file is a thread's");
const parent = parentPort;
const say = (said: PlaySaid): void => parent.postMessage(said);
const play = createPlayer();

parent.on("message", (asked: Play) => {
  try {
    say({ kind: "played", run: play(asked, (virtualMs) => say({ kind: "progress", virtualMs })) });
  } catch (error) {
    // A bug ends the thread, which whoever started it hears.
    if (!(error instanceof OperationalError)) throw error;
    say({ kind: "failed", code: error.code, message: error.message });
  }
});
