/** Requests that only fill a queue, so that a test or a story can say how long it is. */
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";
import type { EngineRequest } from "#gtm/simulation/serving/request.ts";
import type { RegionEvent } from "#gtm/simulation/serving/serving-region.ts";

export const FILLER_TOKENS = 4_000;

export type Fillers = {
  /**
   * Keeps so many fillers waiting in a replica's queue, behind whatever is there: when the prefill of one ends, the next
   * starts and a new one joins. Fewer than before: those too many are aborted.
   *
   * @param replica null: each of them
   */
  readonly hold: (waiting: number, replica: number | null) => void;
  readonly onEvent: (event: RegionEvent) => void;
  /** How many are wanted, one a replica. */
  readonly wanted: () => readonly number[];
};

type FillerOptions = {
  readonly replicas: number;
  readonly nextId: () => number;
  readonly submit: (request: EngineRequest, replica: number) => void;
  readonly abort: (id: number) => void;
};

export const createFillers = ({ replicas, nextId, submit, abort }: FillerOptions): Fillers => {
  const queues = Array.from({ length: replicas }, () => ({ wanted: 0, waiting: new Set<number>() }));

  const adjust = (replica: number): void => {
    const queue = queues[replica];
    if (queue === undefined) return;
    while (queue.waiting.size < queue.wanted) {
      const filler = fillerOf(nextId());
      queue.waiting.add(filler.id);
      submit(filler, replica);
    }
    for (const id of [...queue.waiting].slice(queue.wanted)) abort(id);
  };

  return {
    hold: (waiting, replica) => {
      for (const [at, queue] of queues.entries()) {
        if (replica !== null && at !== replica) continue;
        queue.wanted = waiting;
        adjust(at);
      }
    },
    onEvent: ({ replica, event }) => {
      if (queues[replica]?.waiting.delete(event.request.id)) adjust(replica);
    },
    wanted: () => queues.map(({ wanted }) => wanted),
  };
};

/** No cache holds any of it, since no two are alike. */
const fillerOf = (id: number): EngineRequest => {
  const blocks: number[] = [];
  let hash = ROOT_HASH;
  for (let block = 0; block < FILLER_TOKENS / BLOCK_TOKENS; block++) {
    hash = chainHash(hash, [FILLER_MARK, id], 0, 2);
    blocks.push(hash);
  }
  return { id, promptTokens: FILLER_TOKENS, outputTokens: 1, finishReason: "length", blocks };
};

/** A word that no text begins with: UTF-8 has no such byte. */
const FILLER_MARK = 0xffffffff;
