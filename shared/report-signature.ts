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
  const text = canonicalTextOf(report);
  if (text instanceof Error) {
    throw new OperationalError("AGENT_PAYLOAD_INVALID", `a report cannot be signed: ${text.message}`, { cause: text });
  }
  return { ...report, mac: macOf(text, key).toString("hex") };
};

/**
 * Fields that this version does not know are signed too, so a report must be verified as it came.
 *
 * @param keys any of them may have signed it: a region has two while its key changes
 * @returns false also for what has no canonical form: nobody can have signed it
 */
export const isReportSignedWith = (report: RegionReport, keys: readonly Uint8Array[]): boolean => {
  if (report.mac === null || !/^[0-9a-f]{64}$/.test(report.mac)) return false;
  const text = canonicalTextOf(report);
  if (text instanceof Error) return false;
  const claimed = Buffer.from(report.mac, "hex");
  return keys.some((key) => timingSafeEqual(claimed, macOf(text, key)));
};

const macOf = (canonicalText: string, key: Uint8Array): Buffer =>
  createHmac("sha256", key).update(canonicalText, "utf8").digest();

/** canonicalize throws at what RFC 8785 does not allow, and runs out of stack where JSON is nested without end. */
const canonicalTextOf = (report: RegionReport): string | Error => {
  const { mac: _, ...signed } = report;
  try {
    return String(canonicalize(signed));
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault));
  }
};
