/** `GET /replicas`: what a gateway knows exactly and the agent can only guess from metrics. The agent reads it into its report. */
import { z } from "zod";
import { ModelId, RegionId, ReplicaId } from "#shared/ids.ts";
import type { Replica } from "./replica.ts";

const ReplicaRow = z.looseObject({
  id: ReplicaId,
  model: ModelId,
  /** Until a turn that comes now would start its prefill; null: it waits, and nobody knows how fast the replica is. */
  backlogMs: z.number().nonnegative().nullable(),
  inFlight: z.int().nonnegative(),
  /** A router of the region's own, behind which others choose the replica: it is none of the agent's replicas. */
  isRouter: z.boolean().default(false),
  /** As measured here; null, as the next two: too few prefills were seen, or they do not agree. */
  prefillTokensPerSecond: z.number().positive().nullable(),
  /** ms per token. */
  prefillLinMs: z.number().positive().nullable(),
  /** ms per token². */
  prefillAttnMs: z.number().nonnegative().nullable(),
  /** min(1, prefills in ten minutes ÷ 20); 0 where nothing is believed. */
  prefillConfidence: z.number().min(0).max(1),
});

export const ReplicaPage = z.looseObject({
  v: z.literal(1),
  region: RegionId,
  gateway: z.string().min(1).max(64),
  boot: z.string().min(1).max(64),
  replicas: z.array(ReplicaRow).max(4_096),
});
export type ReplicaPage = z.infer<typeof ReplicaPage>;

export type PageOwner = Pick<ReplicaPage, "region" | "gateway" | "boot">;

export const replicaPage = (owner: PageOwner, replicas: readonly Replica[], nowMs: number): ReplicaPage => ({
  v: 1,
  ...owner,
  replicas: replicas.flatMap((replica) => {
    const { model } = replica.facts();
    return model === null ? [] : [rowOf(replica, model, nowMs)];
  }),
});

const rowOf = (replica: Replica, model: ModelId, nowMs: number): ReplicaPage["replicas"][number] => {
  const { isRouter } = replica.facts();
  const { source, linMs, attnMs } = replica.speed(nowMs);
  const isMeasured = source === "measured";
  const backlogMs = replica.backlogMs(nowMs);
  return {
    id: replica.id,
    model,
    backlogMs: isRouter || (source === "guessed" && backlogMs > 0) ? null : backlogMs,
    inFlight: replica.inFlight(),
    isRouter,
    prefillTokensPerSecond: isMeasured ? 1_000 / linMs : null,
    prefillLinMs: isMeasured ? linMs : null,
    prefillAttnMs: isMeasured ? attnMs : null,
    prefillConfidence: replica.confidence(nowMs),
  };
};
