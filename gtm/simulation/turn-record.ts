/** One turn of a played scenario, as its client saw it and as the engine served it. */
import type { Verdict } from "#gtm/domain/decision.ts";

export type TurnRecord = {
  readonly conversation: number;
  /** From 1. */
  readonly turn: number;
  /** Indices of the region and of the replica in it. */
  readonly region: number;
  readonly replica: number;
  /** Index of the region that its client has the shortest round trip to, up or down: from there bytes across regions are counted. */
  readonly nearest: number;
  /** Where the conversation's turn before was served; null: this is the first. */
  readonly previous: number | null;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** When the client began to ask; round trips, redirects and attempts that failed come after it. */
  readonly askedAtMs: number;
  /** When the first and the last token reached the client. */
  readonly firstTokenAtMs: number;
  readonly lastTokenAtMs: number;
  /** In the replica's queue, and in its prefill, interleaving and preemption included. */
  readonly queuedMs: number;
  readonly prefillMs: number;
  /** Attempts that failed before this one was served; 0 mostly. */
  readonly failedAttempts: number;
  /** What the policy had said of it; null: the policy predicts nothing. */
  readonly predicted: Prediction | null;
  readonly verdict: Verdict["kind"] | null;
};

/** From the moment of the choice on: neither the way to the front, nor attempts that fail. */
export type Prediction = { readonly queueMs: number; readonly ttftMs: number };

/** A turn that was never served: no region would, or the client gave up. */
export type LostTurn = {
  readonly conversation: number;
  readonly askedAtMs: number;
  readonly reason: "unserved" | "too-long" | "gave-up";
};
