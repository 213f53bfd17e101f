/** The signature of a region's report: HMAC-SHA-256 with the region's report key over its canonical JSON (RFC 8785) without `mac`. */
import { createHmac, timingSafeEqual } from "node:crypto";
import canonicalize from "canonicalize";
import { OperationalError } from "./errors.ts";
import type { RegionReport } from "./report.ts";

/**
 * @returns the same report with its `mac`: 64 hexadecimal digits, lower case
 * @throws {OperationalError} AGENT_PAYLOAD_INVALID when an engine's words have no canonical form, such as half a surrogate pair
 */
export const signReport = (report: RegionReport, key: Uint8Array): RegionReport => {
  const mac = macOf(report, key);
  if (mac instanceof Error) {
    throw new OperationalError("AGENT_PAYLOAD_INVALID", `a report cannot be signed: ${mac.message}`, { cause: mac });
  }
  return { ...report, mac: mac.toString("hex") };
};

/**
 * Fields that this version does not know are signed too, so a report must be verified as it came.
 *
 * @returns false also for what has no canonical form: nobody can have signed it
 */
export const isReportSignedWith = (report: RegionReport, key: Uint8Array): boolean => {
  if (report.mac === null || !/^[0-9a-f]{64}$/.test(report.mac)) return false;
  const mac = macOf(report, key);
  return !(mac instanceof Error) && timingSafeEqual(Buffer.from(report.mac, "hex"), mac);
};

/** canonicalize throws at what RFC 8785 does not allow, and runs out of stack where JSON is nested without end. */
const macOf = (report: RegionReport, key: Uint8Array): Buffer | Error => {
  const { mac: _, ...signed } = report;
  try {
    return createHmac("sha256", key)
      .update(String(canonicalize(signed)), "utf8")
      .digest();
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault));
  }
};
