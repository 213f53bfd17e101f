/** What is under way in a replica that dies. */
import { type Engine, outputTokensOf } from "./engine-state.ts";
import type { EngineRequest } from "./request.ts";

export type LostRequest = {
  readonly request: EngineRequest;
  readonly submittedAtMs: number;
  /** null: its first token had not come. */
  readonly firstTokenAtMs: number | null;
  /** Of its prompt; 0 while it had not started. */
  readonly cachedTokens: number;
  readonly computedTokens: number;
  /** Output tokens that its client has. */
  readonly outputTokens: number;
};

/** @returns the batch first, then prefills, then the queue */
export const underWayIn = (engine: Engine): readonly LostRequest[] => {
  const decoding = engine.batch.members.map((member) => {
    const { request, submittedAtMs, firstTokenAtMs, cachedTokens } = member.value;
    const computedTokens = request.promptTokens - cachedTokens;
    const outputTokens = outputTokensOf(engine, member);
    return { request, submittedAtMs, firstTokenAtMs, cachedTokens, computedTokens, outputTokens };
  });
  const others = [
    ...engine.lane.map(({ job, from, at }) => ({ ...job, cachedTokens: from, computedTokens: Math.floor(at - from) })),
    ...engine.queue.map((job) => ({ ...job, cachedTokens: 0, computedTokens: 0 })),
  ].map(({ request, submittedAtMs, preempted, ...soFar }) => {
    const answering = preempted?.answering ?? null;
    if (answering === null) return { request, submittedAtMs, firstTokenAtMs: null, ...pick(soFar), outputTokens: 0 };
    const { firstTokenAtMs, cachedTokens, outputTokens } = answering;
    const computedTokens = request.promptTokens - cachedTokens;
    return { request, submittedAtMs, firstTokenAtMs, cachedTokens, computedTokens, outputTokens };
  });
  return [...decoding, ...others];
};

const pick = ({ cachedTokens, computedTokens }: Pick<LostRequest, "cachedTokens" | "computedTokens">) => ({
  cachedTokens,
  computedTokens,
});
