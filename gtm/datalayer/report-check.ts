/** Whether what lies under an agent's key is a report that may be believed. */
import type { AgentId, RegionId } from "#shared/ids.ts";
import { isSignedWith } from "#shared/region-signature.ts";
import { LONGEST_REPORT, RegionReport } from "#shared/report.ts";

export type ReportCheck =
  | { readonly kind: "accepted"; readonly report: RegionReport }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly detail: string };
export type RefusalReason = "too-large" | "not-json" | "version" | "schema" | "other-region" | "signature";

const VERSION = RegionReport.shape.v.value;

/** Long enough for the first faults of a report, short enough for a log line. */
const LONGEST_DETAIL = 300;

/**
 * @param from whose key it was found under
 * @param keys the region's report keys, any of which may have signed it; none: unsigned reports are accepted
 */
export const checkReport = (
  value: string,
  from: { readonly region: RegionId; readonly agent: AgentId },
  keys: readonly Uint8Array[],
): ReportCheck => {
  if (value.length > LONGEST_REPORT) {
    return refused("too-large", `expected ${LONGEST_REPORT} characters at most, found ${value.length}`);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(value);
  } catch {
    return refused("not-json", "the value is no JSON");
  }
  const version = versionOf(raw);
  if (version !== null && version !== VERSION) {
    return refused("version", `this GTM reads version ${VERSION}, the report is of ${version}`);
  }
  const parsed = RegionReport.safeParse(raw);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
    return refused("schema", faults.join("; "));
  }
  const report = parsed.data;
  if (report.region !== from.region || report.agent !== from.agent) {
    return refused("other-region", `it says ${report.region}/${report.agent}`);
  }
  // Verified as it came: fields that this version does not know are signed too.
  if (keys.length > 0 && !isSignedWith(report, keys)) return refused("signature", "the mac is missing or wrong");
  return { kind: "accepted", report };
};

/** @returns null: it does not say, which the schema refuses in detail */
const versionOf = (raw: unknown): number | null =>
  typeof raw === "object" && raw !== null && "v" in raw && typeof raw.v === "number" ? raw.v : null;

const refused = (reason: RefusalReason, detail: string): ReportCheck => ({
  kind: "refused",
  reason,
  detail: detail.slice(0, LONGEST_DETAIL),
});
