/** What is found at one server; servers of which the same is to be said become one finding. */
import { type Finding, listed } from "#gtm/doctor/finding.ts";

export type Saying = Omit<Finding, "what"> & {
  readonly server: string;
  /** A sentence without its end. */
  readonly what: string;
};

/** In the order in which each was said first. */
export const together = (sayings: readonly Saying[]): readonly Finding[] =>
  [...Map.groupBy(sayings, ({ id, what, remedy }) => JSON.stringify([id, what, remedy])).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { id, severity, what, remedy } = first;
    return [{ id, severity, what: `${what} (${listed(same.map(({ server }) => server))}).`, remedy }];
  });

/** How two sets differ: what only the first has, and what only the second. */
export const difference = (
  wanted: readonly string[],
  found: readonly string[],
): { readonly missing: readonly string[]; readonly extra: readonly string[] } => ({
  missing: wanted.filter((one) => !found.includes(one)),
  extra: found.filter((one) => !wanted.includes(one)),
});
