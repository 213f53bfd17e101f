/** One immutable snapshot of everything that decisions read; replaced whole, never edited. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Drains } from "./drain-schedule.ts";
import type { Learnt } from "./learnt.ts";
import type { ModelInWorld } from "./model.ts";
import type { Region } from "./region.ts";
import type { Send } from "./serving.ts";

/** Sends since `takenAtMs`, newest first: an immutable list, so that adding one makes a new world for the price of a cell. */
export type SendList = {
  readonly region: RegionId;
  readonly model: ModelId;
  readonly send: Send;
  readonly earlier: SendList | null;
};

/** What a person ordered about some traffic. Globs: `*` matches any run of characters. */
export type OverrideRule = {
  readonly id: string;
  readonly region: string;
  readonly pool: string;
  readonly model: string;
  readonly tenant: string;
} & (
  | {
      /** `drain-new` keeps the conversations that are held there; the others concern every turn. */
      readonly kind: "deny" | "force" | "drain-new" | "drain-all";
    }
  /** The matched regions together get at most this share (0 to 1) of what is placed anew; what they hold stays. */
  | ShareTerms
);
type ShareTerms = { readonly kind: "share"; readonly share: number };
export type ShareRule = OverrideRule & ShareTerms;

export type World = {
  /** Grows with every snapshot. */
  readonly version: number;
  /** Grows when a region's candidacy changes: health, orders, placements, overrides. Cells are decided anew at once then. */
  readonly candidacyVersion: number;
  /** When a region last became able to serve, or to serve one more model, that could not before; as `takenAtMs`. */
  readonly openedAtMs: number;
  /** On the instance's monotonic clock; ages and backlogs are as of this moment. */
  readonly takenAtMs: number;
  /** How far the wall clock is ahead of the monotonic one, ms: for what all instances do in the same minute, and nothing else. */
  readonly epochAheadMs: number;
  readonly isStoreUp: boolean;
  /** Ages stand still: the store is away, or over half of the regions fell silent at once. Their silence is ours. */
  readonly areAgesFrozen: boolean;
  readonly regions: readonly Region[];
  readonly models: ReadonlyMap<ModelId, ModelInWorld>;
  readonly overrides: readonly OverrideRule[];
  /** Of regions and overrides that drain by and by. */
  readonly drains: Drains;
  readonly sends: SendList | null;
  /** What turns have taught beside what stands in the placements. */
  readonly learnt: Learnt;
};

/** The same world, knowing of one more turn on its way. */
export const withSend = (world: World, region: RegionId, model: ModelId, send: Send): World => ({
  ...world,
  sends: { region, model, send, earlier: world.sends },
});
