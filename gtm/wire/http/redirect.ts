/** Renders a decision as what the front door answers. The target comes from the configuration, never from the request. */
import type { Decision, Exclusion, Verdict } from "#gtm/domain/decision.ts";
import type { LastResort } from "#gtm/domain/pool.ts";
import type { RegionId } from "#shared/ids.ts";

export type RegionReason = { readonly region: RegionId } & Exclusion;

export type HttpAnswer =
  /** `origin` goes in front of the request's own path and query, which are no part of the record: they may hold secrets. */
  | {
      readonly status: 307;
      readonly verdict: Verdict["kind"];
      readonly region: RegionId;
      readonly origin: string;
    }
  /** Nobody can serve, for now. */
  | { readonly status: 503; readonly retryAfterSeconds: number; readonly reasons: readonly RegionReason[] }
  /** Data residency alone keeps every region out: trying again does not help (RFC 7725). */
  | { readonly status: 451; readonly reasons: readonly RegionReason[] }
  /** The prompt is longer than any region of the pool takes: trying again does not help either. */
  | { readonly status: 413; readonly reasons: readonly RegionReason[] };

/** @param originOf a configured region's `endpoint.url`, without a trailing slash */
export const toHttpAnswer = (decision: Decision, originOf: (region: RegionId) => string): HttpAnswer => {
  const { verdict } = decision;
  switch (verdict.kind) {
    case "pinned":
    case "placed":
    case "migrated":
    case "displaced":
      return redirectTo(verdict.region, verdict.kind, originOf);
    case "unserved": {
      const region = regionOfLastResort(decision.lastResort);
      return region === null ? refusalOf(decision) : redirectTo(region, "unserved", originOf);
    }
  }
};

// 307 keeps method and body (RFC 9110 §15.4.8); 301, 302 and 308 are remembered or change them.
const redirectTo = (
  region: RegionId,
  verdict: Verdict["kind"],
  originOf: (region: RegionId) => string,
): HttpAnswer => ({ status: 307, verdict, region, origin: originOf(region) });

/** null: HTTP has no use for it. Bare addresses are for DNS: a redirect to one would meet no certificate. */
const regionOfLastResort = (lastResort: LastResort | null): RegionId | null => {
  switch (lastResort?.kind) {
    case "regions":
      return lastResort.order[0] ?? null;
    case "addresses":
    case "nodata":
    case "servfail":
    case undefined:
      return null;
  }
};

const refusalOf = ({ considered, ttlSeconds }: Decision): HttpAnswer => {
  const reasons: RegionReason[] = [];
  for (const one of considered) {
    // Regions outside of the pool are no concern of its clients.
    if (one.kind === "excluded" && one.exclusion.reason !== "not-a-member") {
      // In this order: a stored response names a region, too.
      reasons.push({ ...one.exclusion, region: one.region });
    }
  }
  const isEachBecause = (why: Exclusion["reason"]): boolean =>
    reasons.length > 0 && reasons.every(({ reason }) => reason === why);
  if (isEachBecause("not-allowed")) return { status: 451, reasons };
  if (isEachBecause("context-too-long")) return { status: 413, reasons };
  return { status: 503, retryAfterSeconds: ttlSeconds, reasons };
};
