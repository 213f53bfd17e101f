/** The file that `gtm simulate --config` reads, and the plan that is made of it; options of the command line go the same way. */
import { z } from "zod";
import { duration } from "#shared/units.ts";
import type { Plan, PlannedPolicy, PlannedScenario } from "./simulate-plan.ts";

const TRAFFIC = /^(?:chat|agents|retrieval|(?:mooncake|claude|ragpulse|decisions):.+)$/;

const setting = {
  /** chat, agents, retrieval, mooncake:PATH, claude:PATH, ragpulse:PATH or decisions:PATH. */
  traffic: z
    .string()
    .regex(TRAFFIC, "expected chat, agents, retrieval, mooncake:PATH, claude:PATH, ragpulse:PATH or decisions:PATH")
    .optional(),
  regions: z.union([z.literal(3), z.literal(6)], { error: "expected 3 or 6" }).optional(),
  /** Share of what the fleet could prefill without any cache. */
  load: z.number().min(0.01).max(3).optional(),
  /** So many clients in a closed loop, instead of a load. */
  users: z.int().min(1).max(100_000).optional(),
  duration: duration.refine((ms) => ms >= 10_000, "expected 10s or more").optional(),
  warm_up: duration.optional(),
  /** How many; the same for every policy. */
  seeds: z.int().min(1).max(1_000).optional(),
  first_seed: z.int().min(0).max(1_000_000_000).optional(),
} as const;

const Parameters = z.record(z.string(), z.union([z.number(), z.string(), z.null()]));

const Policy = z.union([
  z.string().min(1),
  z.strictObject({
    policy: z.string().min(1),
    /** What the report calls it; absent: as the policy. */
    name: z.string().min(1).optional(),
    parameters: Parameters.optional(),
  }),
]);

const Scenario = z.union([
  z.string().min(1),
  z.strictObject({
    scenario: z.string().min(1),
    /** What the report calls it; absent: made of traffic, load and scenario. */
    name: z.string().min(1).optional(),
    policies: z.array(Policy).min(1).optional(),
    ...setting,
  }),
]);

export const SimulateConfig = z.strictObject({
  version: z.literal(1),
  ...setting,
  /** Absent: all of them. */
  policies: z.array(Policy).min(1).optional(),
  scenarios: z.array(Scenario).min(1),
});
export type SimulateConfig = z.infer<typeof SimulateConfig>;

/** What may be named, and what each scenario takes where nothing is said. */
export type Known = {
  readonly scenarios: readonly string[];
  readonly policies: readonly string[];
  /** null, or what is wrong with a known policy's parameters. */
  readonly faultOfParameters: (policy: PlannedPolicy) => string | null;
};

const DEFAULTS = { traffic: "chat", regions: 3, load: 0.8, seeds: 6, firstSeed: 1 } as const;
const MEASURED_MS = 900_000;
const WARM_UP_MS = 600_000;

export type Fault = { readonly fault: string };

/** @returns what is wrong with the names in it, in words for a person */
export const planOf = (config: SimulateConfig, known: Known): Plan | Fault => {
  const faults: string[] = [];
  const policiesOf = (given: SimulateConfig["policies"]): readonly PlannedPolicy[] =>
    given === undefined || isAll(given)
      ? known.policies.map((policy) => ({ name: policy, policy, parameters: {} }))
      : given.map((one) => plannedPolicy(one, known, faults));
  const given = config.scenarios.flatMap((one) =>
    one === "all"
      ? known.scenarios.map((scenario) => ({ scenario }))
      : [typeof one === "string" ? { scenario: one } : one],
  );
  const scenarios = given.map((one): PlannedScenario => {
    if (!known.scenarios.includes(one.scenario)) faults.push(unknownName("scenario", one.scenario, known.scenarios));
    const { load: _load, users: _users, ...common } = config;
    const own = { ...common, ...(saysHowMuch(one) ? {} : { load: config.load, users: config.users }), ...one };
    return plannedScenario(own, policiesOf(own.policies), faults);
  });
  faults.push(...twice(scenarios.map(({ name }) => name)).map((name) => `two scenarios have the name ${name}`));
  for (const { name, policies } of scenarios) {
    faults.push(
      ...twice(policies.map((one) => one.name)).map((policy) => `${name} has two policies of the name ${policy}`),
    );
  }
  return faults.length === 0 ? { scenarios } : { fault: [...new Set(faults)].join("\n") };
};

type Given = Partial<Omit<SimulateConfig, "scenarios" | "version">> & {
  readonly scenario: string;
  readonly name?: string | undefined;
};

const saysHowMuch = (given: object): boolean => "load" in given || "users" in given;
const isAll = (given: readonly unknown[]): boolean => given.length === 1 && given[0] === "all";

/** Decisions are played as often as they were made where nobody wants otherwise. */
const usualLoad = (traffic: string): number | null => (traffic.startsWith("decisions:") ? null : DEFAULTS.load);

const amountText = (load: number | null, users: number | null): string =>
  users !== null ? `${users} users` : load === null ? "as recorded" : `${Math.round(load * 100)} %`;

const plannedScenario = (given: Given, policies: readonly PlannedPolicy[], faults: string[]): PlannedScenario => {
  const { scenario, traffic = DEFAULTS.traffic, regions = DEFAULTS.regions, users = null } = given;
  const load = given.load ?? (users === null ? usualLoad(traffic) : null);
  if (load !== null && users !== null)
    faults.push(`${given.name ?? scenario} has a load and users: one of both says how much is asked`);
  const first = given.first_seed ?? DEFAULTS.firstSeed;
  const kind = traffic.split(":")[0] ?? traffic;
  return {
    name: given.name ?? `${scenario}: ${kind} ${amountText(load, users)}${regions === 6 ? ", six regions" : ""}`,
    ...{ scenario, traffic, regions, load, users, policies },
    warmUpMs: given.warm_up ?? WARM_UP_MS,
    measuredMs: given.duration ?? MEASURED_MS,
    seeds: Array.from({ length: given.seeds ?? DEFAULTS.seeds }, (_, at) => first + at),
  };
};

const plannedPolicy = (given: z.infer<typeof Policy>, known: Known, faults: string[]): PlannedPolicy => {
  const { policy, name = policy, parameters = {} } = typeof given === "string" ? { policy: given } : given;
  const planned = { name, policy, parameters };
  const fault = known.policies.includes(policy)
    ? known.faultOfParameters(planned)
    : unknownName("policy", policy, known.policies);
  if (fault !== null) faults.push(fault);
  return planned;
};

const unknownName = (what: string, name: string, known: readonly string[]): string =>
  `there is no ${what} ${JSON.stringify(name)}; there are ${known.join(", ")}`;

const twice = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name, at) => names.indexOf(name) !== at)),
];
