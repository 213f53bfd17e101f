/** What SGLang says as JSON: `/v1/loads` of newer versions, and `/server_info`, formerly `/get_server_info`. */
import type { EnginePayloads } from "./engine.ts";
import { listIn, numberIn, sumIn } from "./json.ts";

export const LOADS = "/v1/loads?include=core,memory&format=json";
export const SERVER_INFO = "/server_info";
export const OLD_SERVER_INFO = "/get_server_info";

/** Over all data-parallel ranks; null: not said. */
export type SglangLoads = {
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  readonly uncachedTokensWaiting: number | null;
  readonly usedTokens: number | null;
  readonly kvCapacityTokens: number | null;
  /** Since the start: computed prompt tokens, and the time that computing them took. */
  readonly prefillTokens: number | null;
  readonly prefillBusySeconds: number | null;
};

/** @returns null where there is no such answer */
export const loadsIn = (further: EnginePayloads["further"]): SglangLoads | null => {
  const loads = listIn(jsonAt(further, LOADS), "loads");
  if (loads === null || loads.length === 0) return null;
  const busyUs = sumIn(loads, "total_prefill_busy_us");
  return {
    requestsRunning: sumIn(loads, "num_running_reqs"),
    requestsWaiting: sumIn(loads, "num_waiting_reqs"),
    uncachedTokensWaiting: sumIn(loads, "num_waiting_uncached_tokens"),
    usedTokens: sumIn(loads, "num_used_tokens"),
    kvCapacityTokens: sumIn(loads, "max_total_num_tokens"),
    prefillTokens: sumIn(loads, "total_prefill_uncached_tokens"),
    prefillBusySeconds: busyUs === null ? null : busyUs / 1e6,
  };
};

/** It may hold keys: nothing but these is looked at. `max_total_num_tokens` is one rank's. */
export const serverInfoIn = (further: EnginePayloads["further"]) => {
  const info = jsonAt(further, SERVER_INFO) ?? jsonAt(further, OLD_SERVER_INFO);
  const perRank = numberIn(info, "max_total_num_tokens");
  const ranks = Math.max(1, numberIn(info, "dp_size") ?? 1);
  const contextLimit = numberIn(info, "context_length");
  return {
    kvCapacityTokens: perRank === null || perRank === 0 ? null : perRank * ranks,
    contextLimitTokens: Number.isSafeInteger(contextLimit) && contextLimit !== 0 ? contextLimit : null,
  };
};

const jsonAt = (further: EnginePayloads["further"], path: string): unknown => {
  const answer = further.get(path);
  return answer?.kind === "json" ? answer.json : undefined;
};
