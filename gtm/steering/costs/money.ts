/** Money as milliseconds, at the policy's exchange rate: the GPU time of computing a context again. */
import type { Policy } from "../policy.ts";

const MS_PER_HOUR = 3_600_000;

/**
 * Egress would be added where a context is transferred; no connector transfers one yet.
 *
 * @param migrationMs GPU time of the recompute
 * @returns ms, 0 or more
 */
export const moneyMs = (migrationMs: number, policy: Policy): number =>
  policy.msPerCent * (migrationMs / MS_PER_HOUR) * policy.replicaCentsPerHour;
