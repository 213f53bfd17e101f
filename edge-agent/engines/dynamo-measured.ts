/** What a front end and a worker of Dynamo say of one model. */
import { labelOf } from "../exposition-line.ts";
import { FRONT_END, OF_ONE_WORKER, WORKER } from "./dynamo-names.ts";
import { type Counters, NO_COUNTERS, UNMEASURED } from "./engine.ts";
import { type Measured, notExported } from "./labelled-page.ts";
import { cumulative, difference, type Reader } from "./reader.ts";

export const frontEndMeasured = (reader: Reader): Measured => {
  const inFlight = reader.gauge("requestsRunning", FRONT_END.requestsInFlight);
  const waiting = reader.gauge("requestsWaiting", FRONT_END.requestsWaiting);
  const limit = reader.total("contextLimitTokens", FRONT_END.contextLimitTokens);
  notExported(reader, "startedAtMs", "kvCacheUsedFraction", "prefillTokensPerSecond");
  return {
    contextLimitTokens: limit !== null && Number.isSafeInteger(limit) && limit > 0 ? limit : null,
    kvCapacityTokens: capacityOf(reader),
    replicas: [
      {
        ...UNMEASURED,
        requestsRunning: inFlight === null || waiting === null ? null : Math.max(0, inFlight - waiting),
        requestsWaiting: waiting,
        counters: countersOf(reader),
      },
    ],
  };
};

/** Blocks are said of one worker; how many there are shows only where the front end has series of each. */
const capacityOf = (reader: Reader): number | null => {
  const blocks = reader.total("kvCapacityTokens", FRONT_END.kvTotalBlocks);
  const tokensPerBlock = reader.total("kvCapacityTokens", FRONT_END.kvTokensPerBlock);
  if (!blocks || !tokensPerBlock) {
    reader.fault("kvCapacityTokens", "capacity-unknown");
    return null;
  }
  const workers = new Set(
    reader
      .startingWith(OF_ONE_WORKER)
      .map((sample) => labelOf(sample, "worker_id"))
      .filter((id) => id !== null),
  );
  if (workers.size === 0) reader.fault("kvCapacityTokens", "lower-bound");
  return blocks * tokensPerBlock * Math.max(1, workers.size);
};

const countersOf = (reader: Reader): Counters => {
  const { total, histogram, fault } = reader;
  const sums = (names: readonly string[]): readonly string[] => names.map((name) => `${name}_sum`);
  const prompt = total("newTokensPerSecond", sums(FRONT_END.promptTokens));
  const cached = total("prefixHitFraction", sums(FRONT_END.cachedTokens));
  const counters: Counters = {
    ...NO_COUNTERS,
    computedTokens: cumulative("input_sequence_tokens - cached_tokens", difference(prompt, cached)),
    promptTokens: cumulative("input_sequence_tokens", prompt),
    outputTokens: cumulative("output_tokens", total("newTokensPerSecond", FRONT_END.outputTokens)),
    prefixCache: cumulative("cached_tokens of input_sequence_tokens", prompt, cached, 0),
    interToken: histogram("itlMs", FRONT_END.itlMs),
    ...reader.firstToken(FRONT_END.ttftP50Ms),
  };
  if (counters.prefixCache.length === 0) fault("prefixHitFraction", "missing");
  if (counters.computedTokens.length === 0) fault("newTokensPerSecond", "missing");
  if (counters.interToken.length === 0) fault("itlMs", "missing");
  if (counters.firstToken.length === 0) fault("ttftP50Ms", "missing");
  return counters;
};

/** A worker knows its cache; what waits is known in front of it. */
export const workerMeasured = (reader: Reader): Measured => {
  const { total, fault } = reader;
  const blocks = total("kvCacheUsedFraction", WORKER.kvTotalBlocks);
  const active = total("kvCacheUsedFraction", WORKER.kvActiveBlocks);
  // A worker says blocks, not how many tokens one has.
  fault("kvCapacityTokens", "capacity-unknown");
  notExported(
    reader,
    "startedAtMs",
    "requestsWaiting",
    "ttftP50Ms",
    "newTokensPerSecond",
    "prefillTokensPerSecond",
    "itlMs",
  );
  const share = blocks === null || active === null || blocks === 0 ? null : active / blocks;
  if (share !== null && share > 1) fault("kvCacheUsedFraction", "out-of-range");
  return {
    contextLimitTokens: null,
    kvCapacityTokens: null,
    replicas: [
      {
        ...UNMEASURED,
        requestsRunning: reader.gauge("requestsRunning", WORKER.requestsRunning),
        kvCacheUsedFraction:
          share === null
            ? reader.fraction("kvCacheUsedFraction", WORKER.kvCacheUsedFraction)
            : share > 1
              ? null
              : share,
        prefixHitFraction: reader.fraction("prefixHitFraction", WORKER.prefixHitFraction),
      },
    ],
  };
};
