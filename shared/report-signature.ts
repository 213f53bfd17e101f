/** The signature of a region's report: HMAC-SHA-256 with the region's report key over its canonical JSON (RFC 8785) without `mac`. */
import { createHmac, timingSafeEqual } from "node:crypto";
import canonicalize from "canonicalize";
import type { RegionReport } from "./report.ts";

/** @returns the same report with its `mac`: 64 hexadecimal digits, lower case */
export const signReport = (report: RegionReport, key: Uint8Array): RegionReport => ({
  ...report,
  mac: macOf(report, key).toString("hex"),
});

/** Fields that this version does not know are signed too, so a report must be verified before anything is taken from it. */
export const isReportSignedWith = (report: RegionReport, key: Uint8Array): boolean => {
  if (report.mac === null || !/^[0-9a-f]{64}$/.test(report.mac)) return false;
  return timingSafeEqual(Buffer.from(report.mac, "hex"), macOf(report, key));
};

const macOf = (report: RegionReport, key: Uint8Array): Buffer => {
  const { mac: _, ...signed } = report;
  const text = canonicalize(signed);
  if (text === undefined) throw new Error("a report has no canonical JSON");
  return createHmac("sha256", key).update(text, "utf8").digest();
};
