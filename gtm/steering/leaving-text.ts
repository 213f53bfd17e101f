/** What a decision says of a conversation whose home drains by a schedule. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { RegionId } from "#shared/ids.ts";

/** Follows what is said of the region that it stays in; empty where that is not drained by a schedule. */
export const leavingSentence = ({ considered }: Decision, region: RegionId): string => {
  const chosen = considered.find((one) => one.region === region);
  if (chosen?.kind !== "candidate" || chosen.leavesAtMs === null) return "";
  return ` ${region} is being drained, the cheapest first: it may stay until ${timeOf(chosen.leavesAtMs)}.`;
};

/** Goes on after the region's name. */
export const dueClause = (dueAtMs: number): string =>
  `is being drained, and its turn to leave came at ${timeOf(dueAtMs)}`;

/** "18:04:10 UTC" */
const timeOf = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(11, 19)} UTC`;
