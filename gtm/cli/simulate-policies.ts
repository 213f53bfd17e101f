/** Every policy that `gtm simulate` knows by name: ours, the rivals, the oracle; and each made with the parameters of a plan. */

import type { PolicyKind } from "#gtm/simulation/report/regret.ts";
import type { CreateContender } from "#gtm/simulation/rival.ts";
import { RIVALS, rivalNamed } from "#gtm/simulation/rivals/rivals.ts";
import { steered } from "#gtm/simulation/steered.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import type { PlannedPolicy } from "./simulate-plan.ts";

export type KnownPolicy = {
  readonly name: string;
  readonly kind: PolicyKind;
  /** What may be changed, and what it is. */
  readonly parameters: Readonly<Record<string, number | string | null>>;
};

const OURS = "gtm";
const ORACLE = "oracle";

/** In the order of the report: rivals, ours, what nobody can. */
export const POLICIES: readonly KnownPolicy[] = [
  ...RIVALS.filter(({ name }) => name !== ORACLE).map(({ name, parameters }) => ({
    ...{ name, parameters },
    kind: "rival" as const,
  })),
  { name: OURS, kind: "ours", parameters: DEFAULT_POLICY },
  { name: ORACLE, kind: "oracle", parameters: {} },
];

/** @returns null, or what is wrong with the parameters, in words for a person */
export const faultOfParameters = ({ policy, parameters }: PlannedPolicy): string | null => {
  const known = POLICIES.find(({ name }) => name === policy)?.parameters ?? {};
  for (const [name, value] of Object.entries(parameters)) {
    const usual = known[name];
    if (usual === undefined) {
      const names = Object.keys(known);
      return `${policy} has no parameter ${JSON.stringify(name)}; it has ${names.length === 0 ? "none" : names.join(", ")}`;
    }
    const fault = faultOfValue(name, usual, value);
    if (fault !== null)
      return `${policy}: ${name} is ${JSON.stringify(usual)} usually, expected ${fault}, found ${JSON.stringify(value)}`;
  }
  return null;
};

type Value = number | string | null;

const faultOfValue = (name: string, usual: Value, value: Value): string | null => {
  if (typeof usual === "string") {
    // What one of the policies has is what there is.
    const words = new Set(POLICIES.flatMap(({ parameters }) => parameters[name] ?? []));
    return words.has(value ?? "") ? null : [...words].join(" or ");
  }
  // Where nothing is usual a number may be given, and the other way round.
  const isNumber = typeof value === "number" && Number.isFinite(value) && value >= 0;
  return isNumber || (usual === null && value === null) ? null : "a number of 0 or more";
};

/** @throws {RangeError} a name that is none: the plan's check lets none pass */
export const contenderOf = ({ policy, parameters }: PlannedPolicy): CreateContender => {
  if (policy === OURS) return steered({ policy: { ...DEFAULT_POLICY, ...parameters } as Policy });
  const rival = rivalNamed(policy);
  if (rival === null) throw new RangeError(`no policy is called ${policy}`);
  return Object.keys(parameters).length === 0 ? rival.create : rival.createWith(parameters);
};
