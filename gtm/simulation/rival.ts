/** What a policy under comparison is asked, what it may know, and what it is told. */
import type { Verdict } from "#gtm/domain/decision.ts";
import type { ProbeFact } from "#gtm/domain/health.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { AdminState } from "#gtm/domain/region.ts";
import type { RegionId } from "#shared/ids.ts";
import type { City } from "./cities.ts";
import type { Agenda } from "./clock.ts";
import type { Scenario } from "./scenario.ts";
import type { BlockHashes } from "./serving/prefix-cache.ts";
import type { ServingRegion } from "./serving/serving-region.ts";
import type { Prediction, TurnRecord } from "./turn-record.ts";

/** A turn at the moment of its choice. */
export type Asked = {
  /** Number of its client, in the order of their starts. */
  readonly client: number;
  readonly conversation: number;
  readonly parent: number | null;
  /** From 1. */
  readonly turn: number;
  readonly city: City;
  /** From the client's home to the net, ms; a policy may know it as it knows round trips. */
  readonly lastMileMs: number;
  readonly promptTokens: number;
  /** Only the oracle may look at it: nobody knows the length of an answer beforehand. */
  readonly outputTokens: number;
  readonly blocks: BlockHashes;
  /** Where the conversation's turn before was served; null: this is its first. */
  readonly previous: number | null;
  /** Since the answer before ended; Infinity: there was none. */
  readonly idleMs: number;
};

export type Choice = {
  /** Index of the region. */
  readonly region: number;
  readonly prediction: Prediction | null;
  readonly verdict: Verdict["kind"] | null;
};

export type Contender = {
  /** @returns null: no region may serve it */
  readonly choose: (turn: Asked) => Choice | null;
  /**
   * Where names alone lead: what a resolver is told, whoever asks it. Without it `choose` answers for the turn that asked,
   * for `DEFAULT_TTL_MS`.
   *
   * @returns null: no region may serve
   */
  readonly resolve?: (city: City) => { readonly region: number; readonly ttlMs: number } | null;
  /** Its first token came, or its last: what a gateway, or a router in the path, would have seen. */
  readonly onFirstToken: (turn: Asked, record: Omit<TurnRecord, "lastTokenAtMs">) => void;
  readonly onFinished: (turn: Asked, record: TurnRecord) => void;
  /** A region that served it died, or refused. */
  readonly onFailed: (turn: Asked, region: number) => void;
};

/** What every policy may know, production's included. */
export type Known = {
  /** As measured, last mile excluded, ms. */
  readonly rttMs: (city: City, region: number) => number;
  /** Whether probes, operators' orders and reports have nothing against it: late by the probes' three seconds. */
  readonly mayServe: (region: number) => boolean;
  /** By region; without an entry it was always well. */
  readonly probes: () => ReadonlyMap<RegionId, ProbeFact>;
  readonly admin: () => ReadonlyMap<RegionId, AdminState>;
  /** Calls back when `probes` or `admin` changed. */
  readonly onNews: (hear: () => void) => void;
  /** The newest report heard of a region; null: none yet. */
  readonly report: (region: number) => HeardReport | null;
  /** Reports of all regions as they are heard, in order. */
  readonly onReport: (hear: (region: number, report: HeardReport) => void) => void;
};

export type Arena = {
  readonly agenda: Agenda;
  readonly scenario: Scenario;
  readonly known: Known;
  readonly seed: number;
  /** The truth, in the order of the fleet; only the oracle may look. */
  readonly regions: readonly ServingRegion[];
};

export type CreateContender = (arena: Arena) => Contender;
