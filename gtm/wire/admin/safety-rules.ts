/** What an order must not do unless somebody says so: leave a model without any region. */
import type { World } from "#gtm/domain/world.ts";
import { type Moment, modelsServed, type Served } from "./models-served.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";

export const RULES = ["minRegionsPerModel"] as const;
export type Rule = (typeof RULES)[number];
export type Violation = { readonly rule: Rule; readonly detail: string };

export type ModelChanges = {
  /** Served now, and then by no region. */
  readonly lost: readonly Served[];
  /** Loaded somewhere now, and then only after a cold start. */
  readonly toLoad: { pool: string; model: string; region: string; coldStartMs: number }[];
};

export const modelChanges = (
  now: World,
  then: World,
  { pools, policy }: Pick<AdminPorts, "pools" | "policy">,
  at: Moment,
): ModelChanges => {
  const before = modelsServed(now, pools, policy, at);
  const after = modelsServed(then, pools, policy, at);
  const lost: Served[] = [];
  const toLoad: ModelChanges["toLoad"] = [];
  for (const [i, was] of before.entries()) {
    const will = after[i];
    if (will === undefined || was.region === null) continue;
    if (will.region === null) lost.push(will);
    else if (will.coldStartMs > was.coldStartMs) {
      toLoad.push({ pool: will.pool, model: will.model, region: will.region, coldStartMs: will.coldStartMs });
    }
  }
  return { lost, toLoad };
};

export const violationsOf = ({ lost }: Pick<ModelChanges, "lost">): readonly Violation[] =>
  lost.map(({ pool, model }) => ({
    rule: "minRegionsPerModel",
    detail: `${model} of pool ${pool} would have no region that takes new conversations`,
  }));

/**
 * @param passed the rule that the caller names to do it all the same; null: none
 * @returns whether one had to be passed
 * @throws {ProblemError} 409 where another forbids it
 */
export const passRules = (violations: readonly Violation[], passed: Rule | null): boolean => {
  const forbidden = violations.filter(({ rule }) => rule !== passed);
  const [first] = forbidden;
  if (first === undefined) return violations.length > 0;
  const detail = `${forbidden.map((one) => one.detail).join("; ")}. override_rule=${first.rule} does it all the same.`;
  throw refuse("safety-rule", detail, { rule: first.rule });
};
