/** How an engine spends time on a prompt: prefill time, and a backlog that drains while work arrives. */
import type { ReplicaId } from "#shared/ids.ts";

/** Prefill time of n uncached tokens that end at position `end`: linMs·n + attnMs·n·(end − n/2). */
export type PrefillSpeed = {
  /** ms per token, > 0 */
  readonly linMs: number;
  /** ms per token², ≥ 0: each new token attends to all before it */
  readonly attnMs: number;
};

/** Attention costs as much as everything else at this context length, where only a rate is known. */
const CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR = 131_072;

/** @param prefillTokensPerSecond > 0 */
export const speedFromRate = (prefillTokensPerSecond: number): PrefillSpeed => {
  const linMs = 1_000 / prefillTokensPerSecond;
  return { linMs, attnMs: (2 * linMs) / CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR };
};

/**
 * Time to compute `tokens` keys and values, the last of them at position `end` of the context.
 *
 * @param tokens uncached tokens, clamped to 0…end
 * @param end length of the whole prompt in tokens
 * @returns milliseconds, 0 or more
 */
export const prefillMs = (speed: PrefillSpeed, tokens: number, end: number): number => {
  const n = Math.min(Math.max(tokens, 0), Math.max(end, 0));
  return speed.linMs * n + speed.attnMs * n * (end - n / 2);
};

/** One turn that was sent to a region and is not yet in any report of it. */
export type Send = {
  readonly replica: ReplicaId | null;
  /** When it reaches the region, on the instance's monotonic clock. */
  readonly arrivalAtMs: number;
  /** Prefill work it brings. */
  readonly workMs: number;
};

/**
 * The backlogs of a region's replicas at a later moment: they drain with time, and every send is added when it arrives,
 * to its holder where that one waits at most `patienceMs` longer than the least loaded, else to the least loaded.
 *
 * @param backlogsMs one a replica, as of `fromMs`; not changed
 * @param replicas the replicas' ids, in the order of the backlogs
 * @param sends oldest arrival first; those before `fromMs` count as arriving then, those after `toMs` not at all
 * @returns one a replica, 0 or more
 */
export const playForward = (
  backlogsMs: readonly number[],
  replicas: readonly ReplicaId[],
  sends: readonly Send[],
  span: { readonly fromMs: number; readonly toMs: number; readonly patienceMs: number },
): number[] => {
  const backlogs = backlogsMs.slice();
  let atMs = span.fromMs;
  for (const send of sends) {
    if (send.arrivalAtMs > span.toMs) break;
    drain(backlogs, send.arrivalAtMs - atMs);
    atMs = Math.max(atMs, send.arrivalAtMs);
    const at = replicaFor(send.replica, backlogs, replicas, span.patienceMs);
    if (at !== -1) backlogs[at] = (backlogs[at] ?? 0) + send.workMs;
  }
  drain(backlogs, span.toMs - atMs);
  return backlogs;
};

const drain = (backlogs: number[], ms: number): void => {
  if (ms <= 0) return;
  for (let i = 0; i < backlogs.length; i++) backlogs[i] = Math.max(0, (backlogs[i] ?? 0) - ms);
};

const replicaFor = (
  holder: ReplicaId | null,
  backlogs: readonly number[],
  replicas: readonly ReplicaId[],
  patienceMs: number,
): number => {
  const least = leastLoaded(backlogs);
  if (holder === null || least === -1) return least;
  const at = replicas.indexOf(holder);
  return at !== -1 && (backlogs[at] ?? 0) <= (backlogs[least] ?? 0) + patienceMs ? at : least;
};

/** Index of the smallest backlog; of equal ones the first; −1 for none. */
export const leastLoaded = (backlogs: readonly number[]): number => {
  let least = backlogs.length === 0 ? -1 : 0;
  for (let i = 1; i < backlogs.length; i++) if ((backlogs[i] ?? 0) < (backlogs[least] ?? 0)) least = i;
  return least;
};
