/** What the admin API needs of the configuration: what stands, what would become of another, and the order to read the file again. */

/** A value as a file would write it. */
export type SettingValue =
  | string
  | number
  | boolean
  | null
  | readonly SettingValue[]
  | { readonly [key: string]: SettingValue };

/** A key that differs. */
export type ConfigChange = {
  readonly at: string;
  readonly section: string;
  readonly kind: "changed" | "added" | "removed";
  readonly from: SettingValue;
  readonly to: SettingValue;
  /** `restart`: the process goes by `from` until it is started again. */
  readonly effect: "live" | "restart";
};

/** Lines and columns from 1; null: it is about no line. */
export type ConfigProblem = {
  readonly line: number | null;
  readonly column: number | null;
  readonly at: string;
  readonly message: string;
};

/** What a candidate would do. */
export type ConfigPlan = {
  readonly hash: string;
  readonly changes: readonly ConfigChange[];
  /** Regions that a pool has now and would not have, and the other way round; pools where nothing changes are left out. */
  readonly pools: readonly {
    readonly pool: string;
    readonly regionsLost: readonly string[];
    readonly regionsGained: readonly string[];
  }[];
  /** SOA serial that would be served. */
  readonly serial: number;
  /** What works and is hardly meant so. */
  readonly warnings: readonly string[];
};

export type ConfigCandidate =
  | { readonly kind: "faulty"; readonly faults: readonly ConfigProblem[] }
  | { readonly kind: "sound"; readonly plan: ConfigPlan };

export type ReloadedBy = "signal" | "file" | "api";

export type ConfigReload =
  | { readonly kind: "taken" | "unchanged"; readonly plan: ConfigPlan }
  | { readonly kind: "refused"; readonly faults: readonly ConfigProblem[] }
  /** The GTM was started without a file. */
  | { readonly kind: "no-file" };

export type ConfigState = {
  /** 1 at start, one more with each that was taken. */
  readonly version: number;
  /** Last part of the file's path; null: there is none. */
  readonly source: string | null;
  /** Whether a changed file is noticed without being told. */
  readonly isWatched: boolean;
  /** Unix epoch ms. */
  readonly loadedAtMs: number;
  readonly hash: string;
  readonly sections: readonly { readonly name: string; readonly hash: string; readonly settings: SettingValue }[];
  /** Keys that the environment says, and the file's word for it. */
  readonly references: readonly { readonly at: string; readonly from: string }[];
  /** What the file says and the next start takes. */
  readonly pending: readonly ConfigChange[];
  /** The file as it is now cannot be used; null: it can. */
  readonly refused: {
    /** Unix epoch ms. */
    readonly sinceMs: number;
    readonly by: ReloadedBy;
    readonly faults: readonly ConfigProblem[];
  } | null;
};

export type ConfigurationPort = {
  readonly state: () => ConfigState;
  /** JSON Schema, draft 2020-12. */
  readonly schema: () => Readonly<Record<string, unknown>>;
  /** Of a text that is in nobody's file; changes nothing. Of values that its variables would give, nothing is told. */
  readonly check: (yamlText: string) => ConfigCandidate;
  /** What reading the file again would do; changes nothing. */
  readonly preview: () => ConfigReload;
  readonly reload: (by: ReloadedBy) => ConfigReload;
};
