/** What is to be simulated: scenarios, the policies and seeds of each, and the runs that come of it, in the order of the report. */

export type PolicyParameters = Readonly<Record<string, number | string | null>>;

export type PlannedPolicy = {
  /** What the report calls it. */
  readonly name: string;
  /** Which one it is. */
  readonly policy: string;
  /** Instead of its own. */
  readonly parameters: PolicyParameters;
};

export type PlannedScenario = {
  /** What the report calls it. */
  readonly name: string;
  /** Which one it is. */
  readonly scenario: string;
  /** chat, agents or retrieval; or a reader's name, a colon and the path of a trace. */
  readonly traffic: string;
  readonly regions: 3 | 6;
  /** Share of what the fleet could prefill without any cache; null: as many users as `users` says, in a closed loop, or as recorded. */
  readonly load: number | null;
  readonly users: number | null;
  readonly warmUpMs: number;
  readonly measuredMs: number;
  readonly seeds: readonly number[];
  readonly policies: readonly PlannedPolicy[];
};

export type Plan = { readonly scenarios: readonly PlannedScenario[] };

/** One run: indices into the plan. */
export type Job = {
  readonly scenario: number;
  readonly policy: number;
  readonly seed: number;
};

/** Seed by seed, so that what was broken off has all policies of the seeds that were played. */
export const jobsOf = ({ scenarios }: Plan): readonly Job[] =>
  scenarios.flatMap(({ seeds, policies }, scenario) =>
    seeds.flatMap((seed) => policies.map((_, policy) => ({ scenario, policy, seed }))),
  );
