/** A trace as all readers give it, before anybody says who asks it from where and how often. */
import type { Location } from "#gtm/domain/topology.ts";
import type { BlockRuns } from "./block-runs.ts";

export type RecordedTurn = {
  /** 0: the client's own conversation; from 1: those of its sub-agents. */
  readonly thread: number;
  /** In an open loop after the client's start, in a closed one after the answer before; ms. */
  readonly afterMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Of the prompt, its last and partly filled block included if the trace has it. */
  readonly blocks: BlockRuns;
};

export type RecordedClient = {
  /** After the trace's start, ms; 0 in a closed loop, where traces do not say when sessions begin. */
  readonly startsAtMs: number;
  /** Where the client was; null: that is not recorded, and public traces never say it. */
  readonly location: Location | null;
  /** At least one. */
  readonly turns: readonly RecordedTurn[];
};

export type RecordedTrace = {
  readonly blockTokens: number;
  readonly loop: "open" | "closed";
  /** Whose the block ids are: of the whole trace, or of each client alone. */
  readonly idsOf: "trace" | "client";
  /** Times that stand for a whole step were rounded down to it: they are spread over it; 0: none were. */
  readonly timeStepMs: number;
  /** In the order of their starts. */
  readonly clients: readonly RecordedClient[];
  /** From the first question to the last, ms, at least 1. */
  readonly lengthMs: number;
};
