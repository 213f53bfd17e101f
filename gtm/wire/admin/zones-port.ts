/** The zones that this GTM answers, as the admin API is told of them. */

export type ZoneFacts = {
  readonly name: string;
  readonly serial: number;
  readonly rname: string;
  readonly nameServers: readonly {
    readonly name: string;
    readonly ipv4: readonly string[];
    readonly ipv6: readonly string[];
  }[];
};

export type ZoneRecordFact = {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  /** null: by the decision. */
  readonly ttlSeconds: number | null;
  /** As zone files write them. */
  readonly values: readonly string[];
  /** null: the same for everybody. */
  readonly steered: null | {
    readonly pool: string;
    readonly model: string | null;
    readonly family: "ipv4" | "ipv6" | null;
  };
  readonly how: string | null;
};

export type DelegationForm = {
  readonly name: string;
  readonly title: string;
  readonly how: string;
  /** What is pasted. */
  readonly text: string;
};

export type DelegationFinding = {
  /** `parent zone`, `name servers`, `agreement`. */
  readonly subject: string;
  readonly id: string;
  readonly severity: string;
  readonly what: string;
  readonly remedy: string | null;
};

export type DelegationChecked = {
  /** Unix epoch ms, when it was begun. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly findings: readonly DelegationFinding[];
};

export type ZonesPort = {
  readonly zones: () => readonly ZoneFacts[];
  /** null: no such zone, as in what follows. */
  readonly records: (zone: string) => readonly ZoneRecordFact[] | null;
  readonly delegation: (zone: string) => readonly DelegationForm[] | null;
  /** The newest check; null: none was made since this process started. */
  readonly checked: (zone: string) => DelegationChecked | null;
  readonly isChecking: (zone: string) => boolean;
  /** Asks the parent's servers and the zone's own; whoever comes while that lasts gets the same. Ends within 15 s. */
  readonly check: (zone: string) => Promise<DelegationChecked>;
};
