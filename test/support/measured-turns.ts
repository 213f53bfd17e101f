/** Measured turns as a gateway announces them; a test names what matters to it. */
import { MeasuredTurn } from "#shared/measured-turn.ts";

/** A served turn of 5 000 prompt tokens, 4 000 of them cached, in Paris. */
export const aMeasuredTurn = (change: Readonly<Partial<Record<keyof MeasuredTurn, unknown>>>): MeasuredTurn =>
  MeasuredTurn.parse({
    v: 1,
    region: "paris",
    replica: "192.0.2.10:8000/0",
    conversation: "0123456789abc",
    pool: "chat",
    tenantTag: 7,
    model: "model-a",
    promptTokens: 5_000,
    cachedTokens: 4_000,
    completionTokens: 200,
    isCompletionEstimated: false,
    ttftMs: 180,
    totalMs: 4_200,
    queuedMs: 60,
    clientPrefix: "198.51.100.0/24",
    rttMs: 21,
    predictedTtftMs: 240,
    predictedCachedTokens: 4_100,
    decision: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    outcome: "served",
    atAgeMs: 12,
    ...change,
  });
