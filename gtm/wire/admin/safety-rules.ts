/** What an order must not do unless somebody says so: the rules, what breaks them, and how they are passed by name. */
import { z } from "@hono/zod-openapi";
import type { SafetyLimits } from "#gtm/domain/safety-limits.ts";
import type { LateChange } from "./cooldown.ts";
import type { ModelChanges } from "./model-changes.ts";
import { EVERYBODY } from "./models-served.ts";
import { refuse } from "./problem.ts";
import { ageText } from "./quantity-text.ts";
import type { SafetyPort } from "./safety-port.ts";
import type { RegionUse } from "./use-after.ts";

export const RULES = ["minActiveRegions", "minRegionsPerModel", "maxUsedAfterDrainFraction", "cooldown"] as const;
export type Rule = (typeof RULES)[number];

export const Violation = z
  .looseObject({
    rule: z.string(),
    /** One sentence, without the full stop. */
    detail: z.string(),
    /** What would be, and what the limit is: regions, a fraction, or milliseconds since the last change. */
    found: z.number(),
    limit: z.number(),
  })
  .openapi("Violation");
export type Violation = z.infer<typeof Violation>;

export type Evidence = {
  readonly models: Pick<ModelChanges, "served">;
  readonly uses: readonly RegionUse[];
  /** null: nobody else changed the same thing lately. */
  readonly late: LateChange | null;
};

/** All that an order breaks. What it makes no worse it does not break: what serves nothing already may always be taken out. */
export const violationsOf = ({ models, uses, late }: Evidence, limits: SafetyLimits): readonly Violation[] => [
  ...tooFewActive(models, limits.minActiveRegions),
  ...tooFewOfModel(models, limits.minRegionsPerModel),
  ...(limits.maxUsedAfterDrainFraction === null ? [] : tooFull(uses, limits.maxUsedAfterDrainFraction)),
  ...(late === null ? [] : [tooSoon(late, limits.cooldownMs)]),
];

const tooFewActive = ({ served }: Evidence["models"], limit: number): readonly Violation[] => {
  const activeIn = (when: "before" | "after"): readonly string[] => [
    ...new Set(served.flatMap((one) => (one[when].tenant === EVERYBODY ? one[when].regions : []))),
  ];
  const [before, after] = [activeIn("before"), activeIn("after")];
  const found = after.length;
  if (found >= limit || found >= before.length) return [];
  const detail = `${regionsText(after)} would take new conversations, where at least ${limit} must`;
  return [{ rule: "minActiveRegions", detail, found, limit }];
};

const tooFewOfModel = ({ served }: Evidence["models"], limit: number): readonly Violation[] =>
  served.flatMap(({ before, after: { pool, model, tenant, regions } }) => {
    const found = regions.length;
    if (found >= limit || found >= before.regions.length) return [];
    const whose = tenant === EVERYBODY ? "" : ` of tenant ${tenant}`;
    const atLeast = limit === 1 ? "" : `, where at least ${limit} must`;
    const detail =
      found === 0
        ? `${model} of pool ${pool} would have no region that takes new conversations${whose}${atLeast}`
        : `${model} of pool ${pool} would have ${regionsText(regions)} for new conversations${whose}${atLeast}`;
    return [{ rule: "minRegionsPerModel", detail, found, limit }];
  });

const regionsText = (regions: readonly string[]): string => {
  if (regions.length === 0) return "no region";
  return `${regions.length} ${regions.length === 1 ? "region" : "regions"} (${[...regions].sort().join(", ")})`;
};

const tooFull = (uses: readonly RegionUse[], limit: number): readonly Violation[] =>
  uses.flatMap(({ region, model, kvUsedFraction, prefillUsedFraction }) =>
    (
      [
        ["KV memory", kvUsedFraction],
        ["prefill rate", prefillUsedFraction],
      ] as const
    ).flatMap(([what, use]) => {
      if (use === null || use.after <= limit || use.after <= use.now) return [];
      const detail = `${region} would use ${use.after} of its ${what} for ${model} once they have arrived (now ${use.now}), where at most ${limit} may`;
      return [{ rule: "maxUsedAfterDrainFraction", detail, found: use.after, limit }];
    }),
  );

const tooSoon = ({ region, actor, did, comment, agoMs }: LateChange, limit: number): Violation => {
  const found = Math.round(agoMs);
  const said = `${actor} ${did}: ${comment}`;
  const detail = `${region} was changed ${ageText(agoMs)} ago (${said}); talk to ${actor}, or wait ${ageText(limit - agoMs)}`;
  return { rule: "cooldown", detail, found, limit };
};

/** Several with commas between them. */
export const RuleNames = z
  .string()
  .transform((text) => text.split(",").map((one) => one.trim()))
  .pipe(z.array(z.enum(RULES, { error: `must be rules with commas between them: ${RULES.join(", ")}` })))
  .openapi({
    type: "string",
    example: "minRegionsPerModel,cooldown",
    description: "Do it although these safety rules forbid it; the body's comment says why",
  });

/**
 * @param passed the rules that the caller names to do it all the same
 * @returns those of them that forbid it
 * @throws {ProblemError} 409 where others forbid it
 */
export const passRules = (
  violations: readonly Violation[],
  passed: readonly Rule[],
  safety: Pick<SafetyPort, "refused" | "overridden">,
): readonly string[] => {
  const names: readonly string[] = passed;
  const rulesOf = (some: readonly Violation[]): readonly string[] => [...new Set(some.map(({ rule }) => rule))];
  const forbidden = violations.filter(({ rule }) => !names.includes(rule));
  const [first] = forbidden;
  if (first !== undefined) {
    for (const rule of rulesOf(forbidden)) safety.refused(rule);
    // Who names some and not others has to name all.
    const pass = `override_rule=${rulesOf(violations).join(",")}`;
    const detail = `${forbidden.map((one) => one.detail).join("; ")}. ${pass} does it all the same.`;
    throw refuse("safety-rule", detail, {
      ...{ rule: first.rule, found: first.found, limit: first.limit, pass },
      violations: forbidden,
    });
  }
  const overridden = rulesOf(violations);
  for (const rule of overridden) safety.overridden(rule);
  return overridden;
};

/** @throws {ProblemError} 400 where rules are passed without a word */
export const mustSayWhy = (passed: readonly Rule[], comment: string | null): void => {
  if (passed.length === 0 || comment !== null) return;
  const message = "a comment is required where a safety rule is passed: say why";
  throw refuse("malformed-request", `body.comment: ${message}`, { faults: [{ at: "body.comment", message }] });
};
