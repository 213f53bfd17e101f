/** What an engine process has from its start to its end: the model at work, what it has counted, its fillers. */
import { TTFT_BOUNDS } from "./bucket-bounds.ts";
import { createEngineRoom, type EngineRoom } from "./engine-room.ts";
import type { EngineOnPage } from "./engine-series.ts";
import { createFillers, type Fillers } from "./fillers.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { SGLANG_TTFT_BOUNDS } from "./sglang-page.ts";
import { createStoredResponses, type StoredResponses } from "./stored-responses.ts";
import { createTally, tallyDecoded, tallyEvent } from "./tally.ts";

export type EngineLife = {
  readonly room: EngineRoom;
  readonly fillers: Fillers;
  readonly stored: StoredResponses;
  readonly nextId: () => number;
  /** Epoch ms. */
  readonly startedAtMs: number;
  /** As of now. */
  readonly engines: () => readonly EngineOnPage[];
};

export const beginLife = (options: EngineSimulatorOptions): EngineLife => {
  const ttftBounds = options.flavour === "sglang" ? SGLANG_TTFT_BOUNDS : TTFT_BOUNDS;
  const tallies = Array.from({ length: options.replicas }, () => createTally(options.contextLimitTokens, ttftBounds));
  let lastId = 0;
  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const tallyGaps = (region: EngineRoom["region"]): void => {
    for (const [at, replica] of region.replicas.entries()) {
      const tally = tallies[at];
      if (tally !== undefined) tallyDecoded(tally, replica.decoded());
    }
  };
  const room: EngineRoom = createEngineRoom({
    ...options,
    onEvent: (happened) => {
      const tally = tallies[happened.replica];
      if (tally !== undefined) tallyEvent(tally, happened.event);
      fillers.onEvent(happened);
    },
    onTick: tallyGaps,
  });
  const fillers = createFillers({
    replicas: options.replicas,
    nextId,
    submit: (filler, replica) => room.submit(filler, () => {}, replica),
    abort: room.abort,
  });
  return {
    room,
    fillers,
    stored: createStoredResponses(),
    nextId,
    startedAtMs: options.clock.epochMs(),
    engines: () => {
      room.catchUp();
      tallyGaps(room.region);
      return room.region.replicas.flatMap((replica, at) => {
        const tally = tallies[at];
        return tally === undefined ? [] : [{ state: replica.state(), tally }];
      });
    },
  };
};
