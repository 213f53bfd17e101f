/** Whether a batch of measured turns is what it says: read, measured against what can be, and told by name where it is not. */
import type { RegionId } from "#shared/ids.ts";
import { type MeasuredTurn, TurnBatch } from "#shared/measured-turn.ts";
import { isSignedWith } from "#shared/region-signature.ts";

export type TurnRefusal =
  | "too-long"
  | "no-json"
  | "schema"
  | "unknown-region"
  | "signature"
  | "another-region"
  | "absurd"
  | "repeated";

export type CheckedBatch =
  | { readonly kind: "believed"; readonly batch: TurnBatch }
  | { readonly kind: "refused"; readonly reason: TurnRefusal; readonly detail: string };

/** Characters: 500 turns of about 700 each. */
export const LONGEST_BATCH = 524_288;

/** More than any context; and what a turn may take before it is a clock that jumped. */
const MOST_TOKENS = 100_000_000;
const MOST_MS = 86_400_000;
/** Batches come each 200 ms; a gateway that was cut off tells what it had, and no more. */
const OLDEST_MS = 3_600_000;

/**
 * @param regions those that are configured: of others nothing is learnt
 * @param keysOf a region's report keys, any of which may have signed it; none: unsigned batches are believed
 */
export const checkedBatch = (
  message: string,
  regions: ReadonlySet<RegionId>,
  keysOf: (region: RegionId) => readonly Uint8Array[],
): CheckedBatch => {
  if (message.length > LONGEST_BATCH) return refused("too-long", `${message.length} characters`);
  let raw: unknown = null;
  try {
    raw = JSON.parse(message);
  } catch {
    return refused("no-json", `${message.length} characters`);
  }
  const parsed = TurnBatch.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(
      "schema",
      issue === undefined ? "no TurnBatch" : `${issue.path.map(String).join(".")}: ${issue.code}`,
    );
  }
  const batch = parsed.data;
  if (!regions.has(batch.region)) return refused("unknown-region", batch.region);
  const keys = keysOf(batch.region);
  // As it came: the schema fills in what older gateways do not say.
  const word = { ...(raw as object), mac: batch.mac };
  if (keys.length > 0 && !isSignedWith(word, keys)) return refused("signature", `${batch.region}/${batch.gateway}`);
  // What one region says of another it cannot have measured.
  if (batch.turns.some(({ region }) => region !== batch.region)) return refused("another-region", batch.region);
  const fault = batch.turns.map(absurdIn).find((one) => one !== null);
  return fault === undefined || fault === null ? { kind: "believed", batch } : refused("absurd", fault);
};

const refused = (reason: TurnRefusal, detail: string): CheckedBatch => ({ kind: "refused", reason, detail });

/** @returns the field that cannot be; null: all can */
const absurdIn = (turn: MeasuredTurn): string | null => {
  for (const field of ["promptTokens", "cachedTokens", "completionTokens", "predictedCachedTokens"] as const) {
    if ((turn[field] ?? 0) > MOST_TOKENS) return field;
  }
  for (const field of ["ttftMs", "totalMs", "queuedMs", "rttMs", "predictedTtftMs"] as const) {
    if ((turn[field] ?? 0) > MOST_MS) return field;
  }
  if (turn.atAgeMs > OLDEST_MS) return "atAgeMs";
  return turn.promptTokens !== null && (turn.cachedTokens ?? 0) > turn.promptTokens ? "cachedTokens" : null;
};
