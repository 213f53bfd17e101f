/** One SGLang server as one replica, all its data-parallel ranks together: by its page, else by its loads, else by its server's facts. */
import { labelOf } from "../exposition-line.ts";
import { type ReplicaReading, UNMEASURED } from "./engine.ts";
import { cumulative, type Reader } from "./reader.ts";
import { sglangCounters } from "./sglang-counters.ts";
import type { SglangLoads } from "./sglang-loads.ts";
import { SGLANG_NAMES } from "./sglang-names.ts";

export type SglangReplica = { readonly reading: ReplicaReading; readonly kvCapacityTokens: number | null };

/** @param statedCapacity of `/server_info`; null: not had */
export const sglangReplica = (
  reader: Reader,
  loads: SglangLoads | null,
  statedCapacity: number | null,
): SglangReplica => {
  const { total, fault, source } = reader;
  /** The first that is known, with where it is from. */
  const first = (field: string, ...others: readonly (readonly [from: string, value: number | null | undefined])[]) => {
    const own = total(field, namesOf(field));
    if (own !== null) return own;
    const [from, value] = others.find(([, one]) => typeof one === "number") ?? [];
    if (from === undefined) fault(field, "missing");
    else source(field, from);
    return value ?? null;
  };
  const kvCapacityTokens = first(
    "kvCapacityTokens",
    ["num_pages × page_size", capacityByPages(reader)],
    ["/v1/loads max_total_num_tokens", loads?.kvCapacityTokens],
    ["/server_info max_total_num_tokens", statedCapacity],
  );
  const requestsRunning = first("requestsRunning", ["/v1/loads num_running_reqs", loads?.requestsRunning]);
  const requestsWaiting = first("requestsWaiting", ["/v1/loads num_waiting_reqs", loads?.requestsWaiting]);
  // SGLang's own start is told by nothing: several processes write the page.
  fault("startedAtMs", "not-exported");
  const uncached = loads?.uncachedTokensWaiting ?? null;
  if (uncached !== null) source("uncachedTokensWaiting", "/v1/loads num_waiting_uncached_tokens");
  const busy = cumulative("loads", loads?.prefillTokens ?? null, loads?.prefillBusySeconds ?? null);
  if (busy.length === 0) fault("prefillTokensPerSecond", "missing");
  else source("prefillTokensPerSecond", "/v1/loads total_prefill_busy_us");
  return {
    kvCapacityTokens: kvCapacityTokens === 0 ? null : kvCapacityTokens,
    reading: {
      ...UNMEASURED,
      requestsRunning,
      requestsWaiting: requestsWaiting === null ? null : alsoWaiting(reader, requestsWaiting),
      uncachedTokensWaiting: uncached,
      ...useOf(reader, loads),
      counters: { ...sglangCounters(reader), prefillBusy: busy },
    },
  };
};

/** Each rank's pages times what one holds, as gauges or as labels. @returns null where neither says it */
const capacityByPages = ({ total, find }: Reader): number | null => {
  const pages = total("kvCapacityTokens", SGLANG_NAMES.kvPages);
  const perPage = total("kvCapacityTokens", SGLANG_NAMES.kvTokensPerPage, (samples) => samples.slice(0, 1));
  if (pages !== null && perPage !== null && pages * perPage > 0) return pages * perPage;
  const infos = find(SGLANG_NAMES.cacheConfig).samples.map((info) => {
    const [count, size] = [Number(labelOf(info, "num_pages") ?? 0), Number(labelOf(info, "page_size") ?? 0)];
    return Number.isSafeInteger(count * size) && count > 0 && size > 0 ? count * size : null;
  });
  const known = infos.filter((tokens) => tokens !== null);
  return known.length === 0 || known.length < infos.length ? null : known.reduce((sum, tokens) => sum + tokens, 0);
};

const namesOf = (field: string): readonly string[] =>
  (SGLANG_NAMES as Readonly<Record<string, readonly string[]>>)[field] ?? [];

/** Each queue that is there is added; one that says nothing sound makes the sum unknown. */
const alsoWaiting = ({ find, total }: Reader, inQueue: number): number | null => {
  let sum: number | null = inQueue;
  for (const name of SGLANG_NAMES.alsoWaiting) {
    if (find([name]).samples.length === 0) continue;
    const more = total("requestsWaiting", [name]);
    sum = sum === null || more === null ? null : sum + more;
  }
  return sum;
};

/** Tokens in use over tokens there are; older versions say only the share. */
const useOf = (
  reader: Reader,
  loads: SglangLoads | null,
): Pick<ReplicaReading, "kvCacheUsedFraction" | "kvResidentFraction"> => {
  const { find, total, fraction, source } = reader;
  const field = "kvCacheUsedFraction";
  const capacity = total("kvCapacityTokens", SGLANG_NAMES.kvCapacityTokens);
  const used = total(field, SGLANG_NAMES.kvUsedTokens);
  const evictable = total("kvResidentFraction", SGLANG_NAMES.kvEvictableTokens);
  const share = shareOf(reader, used, capacity);
  const resident = used === null || evictable === null ? null : shareOf(reader, used + evictable, capacity);
  if (share !== null) return { kvCacheUsedFraction: share, kvResidentFraction: resident };
  if (find(SGLANG_NAMES.kvCacheUsedFraction).samples.length > 0) {
    return { kvCacheUsedFraction: fraction(field, SGLANG_NAMES.kvCacheUsedFraction), kvResidentFraction: null };
  }
  const ofLoads = shareOf(reader, loads?.usedTokens ?? null, loads?.kvCapacityTokens ?? null);
  if (ofLoads === null) reader.fault(field, "missing");
  else source(field, "/v1/loads num_used_tokens");
  return { kvCacheUsedFraction: ofLoads, kvResidentFraction: null };
};

const LARGEST_FRACTION = 1.5;

const shareOf = ({ fault }: Reader, part: number | null, whole: number | null): number | null => {
  if (part === null || whole === null || !(whole > 0)) return null;
  if (part / whole <= LARGEST_FRACTION) return Math.min(1, part / whole);
  fault("kvCacheUsedFraction", "out-of-range");
  return null;
};
