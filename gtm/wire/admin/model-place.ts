/** One model in one region, for people: as it is there, how fast, and what it would take to have it there. */
import { z } from "@hono/zod-openapi";
import type { Placement } from "#gtm/domain/placement.ts";
import { rateOf } from "#gtm/domain/prefill-speeds.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { formatMs } from "#gtm/steering/quantity-text.ts";
import type { AgentSeen } from "./agents-port.ts";
import { standingOf } from "./region-standing.ts";

const known = z.number().nullable();

export const PrefillView = z
  .looseObject({
    tokensPerSecond: z.number(),
    /**
     * `measured` by engines' counters, `configured` at the agent, `reported` by an agent that does not say which,
     * `other-regions` do so, `assumed`: nobody has measured this model.
     */
    source: z.string(),
    /** 0 to 1; below 0.25 the rate is a guess. */
    confidence: z.number(),
    /** Of the report that says it; null: no report of this region does. */
    ageMs: known,
  })
  .openapi("PrefillRate");

export const ModelPlaceView = z
  .looseObject({
    region: z.string(),
    /** Regions of a pool that serves the model; others report it without being asked. */
    isMember: z.boolean(),
    /** `loaded`, `loading`, `asleep`, `on-disk`, `down`, or `not-placed`. */
    state: z.string(),
    reportAgeMs: known,
    takesNew: z.boolean(),
    replicas: z.int(),
    kvCapacityTokens: known,
    /** Of running requests. */
    kvPinnedTokens: known,
    /** Contexts of conversations that are expected back, over all GTMs. */
    liveTokens: z.number(),
    prefill: PrefillView.nullable(),
    coldStartMs: known,
    gpuMemoryFreeBytes: known,
    /** What it would take to serve the model here; null: it is loaded. */
    needs: z.string().nullable(),
  })
  .openapi("ModelPlace");
export type ModelPlaceView = z.infer<typeof ModelPlaceView>;

export type PlaceInputs = {
  readonly model: string;
  readonly region: Region;
  readonly isMember: boolean;
  /** All regions of the world. */
  readonly regions: readonly Region[];
  readonly agents: readonly AgentSeen[];
  readonly policy: Policy;
  /** As configured, or as some region says. */
  readonly weightBytes: number | null;
  readonly coldStartMs: number | null;
};

export const modelPlace = (inputs: PlaceInputs): ModelPlaceView => {
  const { region, isMember, policy } = inputs;
  const placement = placementIn(region, inputs.model);
  const coldStartMs = placement?.coldStartMs ?? inputs.coldStartMs;
  return {
    region: region.id,
    isMember,
    state: placement?.state ?? "not-placed",
    reportAgeMs: region.reportAgeMs === null ? null : Math.round(region.reportAgeMs),
    takesNew: standingOf(region, policy).takesNew,
    replicas: placement?.replicas.length ?? 0,
    kvCapacityTokens: placement?.kvCapacityTokens ?? null,
    kvPinnedTokens: pinnedIn(placement),
    liveTokens: Math.round(placement?.liveTokens ?? 0),
    prefill: placement === null ? null : prefillOf(placement, inputs),
    coldStartMs,
    gpuMemoryFreeBytes: region.gpuMemoryFreeBytes,
    needs: needsOf(placement, { ...inputs, coldStartMs }),
  };
};

const placementIn = (region: Region, model: string): Placement | null =>
  [...region.placements.values()].find((one) => one.model === model) ?? null;

const pinnedIn = (placement: Placement | null): number | null => {
  const each = placement?.replicas.map(({ kvPinnedTokens }) => kvPinnedTokens) ?? [];
  return each.length === 0 || each.includes(null) ? null : each.reduce<number>((sum, one) => sum + (one ?? 0), 0);
};

const prefillOf = (placement: Placement, inputs: PlaceInputs): z.infer<typeof PrefillView> => {
  const { region, model, agents, regions } = inputs;
  const { prefillTokensPerSecond, prefillConfidence, replicas, speedWithoutReplicas } = placement;
  if (prefillTokensPerSecond !== null) {
    const said = agents
      .filter((one) => one.region === region.id)
      .flatMap(({ report }) => report?.models.find((one) => one.model === model)?.prefillSource ?? []);
    return {
      tokensPerSecond: Math.round(prefillTokensPerSecond),
      source: said[0] ?? "reported",
      confidence: prefillConfidence,
      ageMs: region.reportAgeMs === null ? null : Math.round(region.reportAgeMs),
    };
  }
  const isElsewhere = regions.some(
    (one) => one.id !== region.id && (placementIn(one, model)?.prefillTokensPerSecond ?? null) !== null,
  );
  return {
    tokensPerSecond: Math.round(rateOf(replicas[0]?.speed ?? speedWithoutReplicas)),
    source: isElsewhere ? "other-regions" : "assumed",
    confidence: 0,
    ageMs: null,
  };
};

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** One sentence. */
const needsOf = (placement: Placement | null, inputs: PlaceInputs): string | null => {
  const { weightBytes, coldStartMs, region } = inputs;
  const free = region.gpuMemoryFreeBytes;
  const takes = coldStartMs === null ? "how long that takes is not known" : `ready after ${formatMs(coldStartMs)}`;
  switch (placement?.state) {
    case "loaded":
      return null;
    case "loading":
      return `Nothing: it is being loaded, ${takes}.`;
    case "asleep":
    case "on-disk":
      return `A first turn, which wakes or loads it: ${takes}.`;
    case "down":
      return "Its engine to answer again: the agent's faults say why it does not.";
    case undefined: {
      if (weightBytes === null) return "An engine that serves it; how large its weights are is not known.";
      const room =
        free === null
          ? "how much GPU memory is free here is not known"
          : free >= weightBytes
            ? `${gigabytes(free)} are free`
            : `${gigabytes(free)} are free, ${gigabytes(weightBytes - free)} too little`;
      return `An engine that serves it, with ${gigabytes(weightBytes)} of weights: ${room}; ${takes}.`;
    }
  }
};
