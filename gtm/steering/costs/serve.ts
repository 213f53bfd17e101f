/** Queue and prefill: the cheaper of waiting for the replica that holds the context and starting from zero on the least loaded. */
import type { Placement, Replica } from "#gtm/domain/placement.ts";
import { leastLoaded, type PrefillSpeed, prefillMs } from "#gtm/domain/serving.ts";
import type { ReplicaId } from "#shared/ids.ts";

export type Serve = {
  /** Backlog of the chosen replica. */
  readonly queueMs: number;
  /** What this prompt adds, computed anywhere. */
  readonly prefillMs: number;
  /** The context that is missing there, computed again. */
  readonly migrationMs: number;
  readonly replica: ReplicaId | null;
  readonly holder: ReplicaId | null;
};

export type Prompt = {
  /** L + g: where the prompt ends. */
  readonly endTokens: number;
  /** g */
  readonly newTokens: number;
  /** Expected tokens of it that this region still holds; 0 to L. */
  readonly heldTokens: number;
  /** Expected length of the answer: it needs room beside the prompt. */
  readonly outputTokens: number;
  /** null: some replica of the region, not known which. */
  readonly holder: ReplicaId | null;
};

/**
 * @param backlogsMs one a replica at the time of arrival; where there is no replica (a cold placement) nothing waits
 * @param isRouted whether somebody in the region looks at its replicas; else a turn comes to any of them, and waits as long as they do on average
 */
export const serve = (
  placement: Placement,
  backlogsMs: readonly number[],
  prompt: Prompt,
  isRouted: boolean,
): Serve => {
  const least = isRouted ? leastLoaded(backlogsMs) : -1;
  const fromZero = option(placement, backlogsMs, prompt, least, 0);
  if (prompt.heldTokens <= 0) return fromZero;
  const at =
    prompt.holder === null || !isRouted ? -1 : placement.replicas.findIndex((replica) => replica.id === prompt.holder);
  const fromHeld = option(placement, backlogsMs, prompt, at, prompt.heldTokens);
  return fromHeld.queueMs + fromHeld.migrationMs <= fromZero.queueMs + fromZero.migrationMs ? fromHeld : fromZero;
};

/** A DNS answer is a commitment for its TTL and for many clients: it looks at the average of the region, no one replica. */
export const serveOnAverage = (
  placement: Placement,
  prompt: Pick<Prompt, "endTokens" | "newTokens" | "outputTokens">,
): Serve => ({
  ...option(placement, [], { ...prompt, heldTokens: 0, holder: null }, -1, 0),
  queueMs: placement.averageBacklogMs,
});

/** @param at index of the replica; −1: not known which, so the mean of all */
const option = (
  placement: Placement,
  backlogsMs: readonly number[],
  prompt: Prompt,
  at: number,
  heldTokens: number,
): Serve => {
  const replica = placement.replicas[at];
  const speed = replica?.speed ?? meanSpeed(placement);
  const newMs = prefillMs(speed, prompt.newTokens, prompt.endTokens);
  const wholeMs = prefillMs(speed, prompt.endTokens - heldTokens, prompt.endTokens);
  return {
    queueMs:
      replica === undefined ? mean(backlogsMs) : Math.max(backlogsMs[at] ?? 0, roomMs(placement, replica, prompt)),
    prefillMs: newMs,
    migrationMs: Math.max(0, wholeMs - newMs),
    replica: replica?.id ?? null,
    holder: heldTokens > 0 ? (replica?.id ?? null) : null,
  };
};

/** Beyond it the estimate says only that there is no room. */
const LONGEST_ROOM_MS = 60_000;

/**
 * Until running answers have given back as much memory as the prompt and its answer need together, at the pace at which the
 * replicas write: what is written is given back, in the long run. Not on top of the backlog, which tells of the same wait.
 *
 * @returns ms, 0 or more; 0 where there is room, or capacity, use or pace are not known
 */
const roomMs = (placement: Placement, replica: Replica, prompt: Prompt): number => {
  const { kvCapacityTokens, kvPinnedTokens } = replica;
  const { newTokensPerSecond, replicas } = placement;
  if (kvCapacityTokens === null || kvPinnedTokens === null || newTokensPerSecond === null) return 0;
  // What can never fit is not a matter of waiting.
  const neededTokens = Math.min(prompt.endTokens + prompt.outputTokens, kvCapacityTokens);
  const lackingTokens = neededTokens - Math.max(0, kvCapacityTokens - kvPinnedTokens);
  if (lackingTokens <= 0 || newTokensPerSecond <= 0) return 0;
  return Math.min(LONGEST_ROOM_MS, (1_000 * lackingTokens * replicas.length) / newTokensPerSecond);
};

const mean = (values: readonly number[]): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? 0 : sum / values.length;
};

/** Speed of a placement as a whole; for one without replicas, that of its reported rate. */
export const meanSpeed = (placement: Placement): PrefillSpeed => {
  const { replicas } = placement;
  const [first] = replicas;
  if (first === undefined) return placement.speedWithoutReplicas;
  let linMs = 0;
  let attnMs = 0;
  for (const { speed } of replicas) {
    linMs += speed.linMs;
    attnMs += speed.attnMs;
  }
  return { linMs: linMs / replicas.length, attnMs: attnMs / replicas.length };
};
