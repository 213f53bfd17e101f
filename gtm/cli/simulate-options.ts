/** The options of `gtm simulate` as they are typed. */

export type SimulateOptions = {
  readonly scenario?: readonly string[];
  readonly policy?: readonly string[];
  readonly traffic?: string;
  readonly fromDecisions?: string;
  readonly regions?: string;
  readonly load?: number;
  readonly users?: number;
  readonly seeds?: number;
  readonly firstSeed?: number;
  readonly duration?: string;
  readonly warmUp?: string;
  readonly jobs: number;
  readonly config?: string;
  readonly json?: string;
  readonly html?: string;
  readonly compare?: readonly string[];
  readonly describe?: boolean;
  readonly oracleDiff?: boolean;
};
