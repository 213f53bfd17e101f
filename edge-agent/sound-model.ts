/** The last look at what was computed of a model: a number that its schema refuses is unknown, and said to be. */
import { ModelReport, type ReportFault } from "#shared/report.ts";

/**
 * Counters that no engine has (a sum of 10¹⁵ s over 5·10⁻³²⁴ prefills) make quotients that are infinite or round to 0. Each is
 * one field, and must not cost the region its report.
 *
 * @param faults takes one for every number that was dropped
 */
export const soundModel = (report: ModelReport, faults: ReportFault[]): ModelReport => {
  const checked = ModelReport.safeParse(report);
  if (checked.success) return report;
  const sound = structuredClone(report);
  for (const { path } of checked.error.issues) {
    const field = path.at(-1);
    const owner = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], sound);
    // Only numbers can be unknown; a name that is refused here is a bug, which the next parse says.
    if (field !== undefined) (owner as Record<PropertyKey, unknown>)[field] = null;
    faults.push({ source: report.model, field: String(field), code: "out-of-range" });
  }
  return ModelReport.parse(sound);
};
