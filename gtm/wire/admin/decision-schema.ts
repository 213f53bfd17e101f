/** The decision of gtm/steering/decision-view.ts as a schema, for the API's description and for readers of its answers. */
import { z } from "@hono/zod-openapi";

const text = z.string().nullable();
const ms = z.number();

const CostView = z
  .looseObject({
    networkMs: ms,
    queueMs: ms,
    prefillMs: ms,
    migrationMs: ms,
    coldStartMs: ms,
    memoryMs: ms,
    decodeMs: ms,
    moneyMs: ms,
    stalenessMs: ms,
    predictedTtftMs: ms,
    totalMs: ms,
  })
  .openapi("Cost");

/** Either `cost` and `plan`, or `exclusion`. */
const ConsideredView = z
  .looseObject({
    region: z.string(),
    cost: CostView.optional(),
    plan: z
      .looseObject({
        replica: text,
        holder: text,
        rttMs: ms,
        rttSource: z.string(),
        heldTokens: z.number(),
        heldProbability: z.number(),
        survivalFraction: z.number(),
        heldCorrection: z.number(),
        isHeldCorrectionLearnt: z.boolean(),
        writingMs: ms.nullable(),
      })
      .optional(),
    exclusion: z.looseObject({ reason: z.string() }).optional(),
    reportAgeMs: ms.nullable(),
    /** Only where the region drains by a schedule: until when this conversation may stay. */
    leavesAt: z.string().optional(),
  })
  .openapi("Considered");
export type ConsideredView = z.infer<typeof ConsideredView>;

export const DecisionSchema = z
  .looseObject({
    id: z.string(),
    at: z.string(),
    channel: z.string(),
    kind: z.string(),
    pool: z.string(),
    model: z.string(),
    tenant: z.string(),
    worldVersion: z.number(),
    worldAgeMs: ms,
    client: z.looseObject({ subnet: z.string(), area: text, place: text, source: z.string() }),
    conversation: z
      .looseObject({
        id: z.string(),
        contextTokens: z.number(),
        isContextAssumed: z.boolean(),
        newTokens: z.number(),
        home: text,
        idleMs: ms.nullable(),
        turns: z.number(),
        /** Absent: an earlier version wrote it. */
        parentId: text.optional(),
      })
      .nullable(),
    expected: z.looseObject({
      outputTokens: z.number(),
      outputSource: z.string(),
      outputLimitTokens: z.number().nullable(),
      nextTurnFraction: z.number(),
      nextTurnSource: z.string(),
      reuseFraction: z.number(),
      reuseSource: z.string(),
    }),
    verdict: z.looseObject({
      kind: z.string(),
      region: text,
      from: text,
      runnerUp: text,
      leadMs: ms.nullable(),
      savedMs: ms,
    }),
    marginMs: ms,
    mode: z.string(),
    /** In shadow what steering would have answered. Absent: an earlier version wrote it. */
    withheld: z.looseObject({ kind: z.string(), region: text }).nullable().optional(),
    overrideId: text,
    /** Shares that would have left no region, and so did not hold. Absent: an earlier version wrote it. */
    yieldedOverrideIds: z.array(z.string()).optional(),
    answeredWith: z.string(),
    answered: z.number(),
    ttlSeconds: z.number(),
    considered: z.array(ConsideredView),
    explanation: z.string(),
    flipsIf: text,
  })
  .openapi("Decision");
export type DecisionSchema = z.infer<typeof DecisionSchema>;
