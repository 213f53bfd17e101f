/** The latest decisions made again, in the world as it is and in one with regions or policy changed: what would be different. */
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { regionOf } from "#gtm/domain/decision.ts";
import { LATE_FIRST_TOKEN_MS } from "#gtm/domain/late-first-token.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { RegionId } from "#shared/ids.ts";
import { AdminState } from "#shared/records.ts";
import { OverrideSubject } from "./override-body.ts";

const ms = z.number().min(0).max(3_600_000);
/** Named as the policy's own fields are. */
const PolicyChange = z
  .strictObject({
    marginMs: ms,
    /** Below 1, or nothing would ever move. */
    marginFraction: z.number().min(0).max(0.9),
    bucketMs: ms,
    memoryPriceFactor: z.number().min(0).max(1_000),
    decodeWeight: z.number().min(0).max(1_000),
    msPerCent: z.number().min(0).max(1e6),
    laterTurns: z.int().min(0).max(3),
  })
  .partial();

/** More than anybody reads the outcome of. */
const MOST_OVERRIDES = 16;

export const WhatIfBody = z
  .strictObject({
    /** How many of the latest decisions about turns are made again. */
    last: z.int().min(1).max(2_000).default(500),
    /** Regions by what would be ordered of them. */
    regions: z.record(z.string().max(63), z.enum(AdminState.options)).default({}),
    policy: PolicyChange.default({}),
    /** Orders about some traffic that stood beside those that do. */
    overrides: z.array(OverrideSubject).max(MOST_OVERRIDES).default([]),
  })
  .openapi("WhatIf");
export type WhatIfBody = z.infer<typeof WhatIfBody>;

const Side = z.looseObject({
  /** region null: no region would serve. */
  regions: z.array(z.looseObject({ region: z.string().nullable(), decisions: z.int() })),
  verdicts: z.record(z.string(), z.int()),
  /** Of what is served; null: nothing is. */
  predictedTtftMeanMs: z.number().nullable(),
  predictedTtftP95Ms: z.number().nullable(),
  /** Predicted first tokens later than three seconds. */
  overThreeSeconds: z.int(),
  /** Context that would be computed again. */
  recomputeTokens: z.number(),
});
export const WhatIfAnswer = z
  .looseObject({
    decisions: z.int(),
    /** Age of the oldest of them. */
    oldestMs: z.number().nullable(),
    before: Side,
    after: Side,
    /** Decisions that would name another region, most first. */
    moved: z.array(z.looseObject({ from: z.string().nullable(), to: z.string().nullable(), decisions: z.int() })),
  })
  .openapi("WhatIfAnswer");
export type WhatIfAnswer = z.infer<typeof WhatIfAnswer>;

type Setting = { readonly world: World; readonly policy: Policy };
type Made = {
  readonly region: RegionId | null;
  readonly verdict: string;
  readonly ttftMs: number | null;
  readonly recomputeTokens: number;
};

/** Decisions for queries must not wait behind it, so it pauses this often. */
const CHUNK = 100;

/** @param entries newest first, about turns; both sides are decided as of `nowMs`, so that nothing but the change differs */
export const whatIf = async (
  entries: readonly Entry[],
  now: Setting,
  changed: Setting,
  nowMs: number,
): Promise<WhatIfAnswer> => {
  const before: Made[] = [];
  const after: Made[] = [];
  for (const [at, entry] of entries.entries()) {
    before.push(madeAgain(entry, now, nowMs));
    after.push(madeAgain(entry, changed, nowMs));
    if (at % CHUNK === CHUNK - 1) await nextTick();
  }
  const oldest = entries.at(-1);
  return {
    decisions: entries.length,
    oldestMs: oldest === undefined ? null : Math.round(nowMs - oldest.query.receivedAtMs),
    before: sideOf(before),
    after: sideOf(after),
    moved: movesOf(before, after),
  };
};

const madeAgain = ({ query: asked, decision: made }: Entry, { world, policy }: Setting, nowMs: number): Made => {
  const query = { ...asked, channel: "explain", receivedAtMs: nowMs } as const;
  const turn = turnOf(query, made.turn.client, made.turn.conversation, world, policy);
  const { verdict, considered } = decisionOf(query, turn, world, policy);
  const region = regionOf(verdict);
  const chosen = considered.find((one) => one.region === region);
  if (chosen?.kind !== "candidate") return { region, verdict: verdict.kind, ttftMs: null, recomputeTokens: 0 };
  return {
    region,
    verdict: verdict.kind,
    ttftMs: chosen.cost.predictedTtftMs,
    recomputeTokens: Math.max(0, turn.contextTokens - chosen.plan.heldTokens),
  };
};

const sideOf = (made: readonly Made[]): WhatIfAnswer["before"] => {
  const ttfts = made.flatMap(({ ttftMs }) => (ttftMs === null ? [] : [ttftMs])).sort((a, b) => a - b);
  const sum = ttfts.reduce((total, one) => total + one, 0);
  return {
    regions: counted(made.map(({ region }) => region)).map(([region, decisions]) => ({ region, decisions })),
    verdicts: Object.fromEntries(counted(made.map(({ verdict }) => verdict))),
    predictedTtftMeanMs: ttfts.length === 0 ? null : Math.round(sum / ttfts.length),
    predictedTtftP95Ms: ttfts.length === 0 ? null : Math.round(ttfts[Math.ceil(0.95 * ttfts.length) - 1] ?? 0),
    overThreeSeconds: ttfts.filter((one) => one > LATE_FIRST_TOKEN_MS).length,
    recomputeTokens: Math.round(made.reduce((total, { recomputeTokens }) => total + recomputeTokens, 0)),
  };
};

const movesOf = (before: readonly Made[], after: readonly Made[]): WhatIfAnswer["moved"] => {
  const moves = before.flatMap(({ region: from }, at) => {
    const to = after[at]?.region ?? null;
    return from === to ? [] : [JSON.stringify([from, to])];
  });
  return counted(moves).map(([move, decisions]) => {
    const [from = null, to = null]: readonly (string | null)[] = JSON.parse(move);
    return { from, to, decisions };
  });
};

/** Most first; of equals by name. */
const counted = <Key extends string | null>(keys: readonly Key[]): readonly (readonly [Key, number])[] => {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1));
};
