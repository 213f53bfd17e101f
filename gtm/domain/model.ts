/** A model as the configuration and all regions together know it. */
import type { ModelId } from "#shared/ids.ts";

export type Model = {
  readonly id: ModelId;
  readonly aliases: readonly string[];
  readonly weightBytes: number | null;
  readonly coldStartMs: number | null;
};

/** What one region cannot know of the others. */
export type ModelInWorld = {
  /** Least inter-token latency among the regions; null when none is known. */
  readonly bestItlMs: number | null;
};
