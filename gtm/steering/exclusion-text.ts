/** Why a region may not serve, in words. */
import type { Exclusion } from "#gtm/domain/decision.ts";
import { dueClause } from "./leaving-text.ts";
import { formatMs, formatTokens } from "./quantity-text.ts";

/** Goes on after the region's name: "eu-central is draining". */
export const exclusionClause = (exclusion: Exclusion | null): string => {
  if (exclusion === null) return "is not among the configured regions";
  switch (exclusion.reason) {
    case "not-a-member":
      return "is not a member of the pool";
    case "down":
      return exclusion.cause === "ordered" ? "is ordered down" : "does not answer its probe";
    case "draining":
      if ("dueAtMs" in exclusion) return dueClause(exclusion.dueAtMs);
      return exclusion.admin === "drain-all" ? "is being drained" : "takes no new conversations (drain-new)";
    case "model-not-placed":
      return `does not place ${exclusion.model}`;
    case "no-room":
      return `has no room to load the model (${gigabytes(exclusion.freeBytes)} free, ${gigabytes(exclusion.needBytes)} needed)`;
    case "report-expired":
      return exclusion.ageMs === null ? "has never reported" : `last reported ${formatMs(exclusion.ageMs)} ago`;
    case "context-too-long":
      return `takes at most ${formatTokens(exclusion.limitTokens)}, and this prompt has ${formatTokens(exclusion.tokens)}`;
    case "not-allowed":
      return `lies outside the jurisdictions this pool's data may enter (${exclusion.jurisdiction ?? "unstated"})`;
    case "overridden":
      return `is excluded by override ${exclusion.overrideId}`;
    case "over-share":
      return `gets a share of ${exclusion.share} of what is placed anew (override ${exclusion.overrideId}), and this is not in it`;
    case "refused":
      return "refused this conversation a moment ago";
    case "state-elsewhere":
      return `does not have the stored response, which lies in ${exclusion.region}`;
  }
};

const gigabytes = (bytes: number | null): string =>
  bytes === null ? "an unknown amount" : `${(bytes / 1e9).toFixed(1)} GB`;
