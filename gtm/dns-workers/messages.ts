/** What the main thread and the threads that answer DNS say to each other. Both are the same program, so these are types, not schemas. */
import type { AcmeEntry } from "#gtm/datalayer/acme-values.ts";
import type { StaticSubnet } from "#gtm/datalayer/geoip.ts";
import type { Learnt } from "#gtm/domain/learnt.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { FoundLabel } from "#gtm/wire/dns/label-finder.ts";
import type { Listen, ListenAddress } from "#gtm/wire/dns/listen.ts";
import type { DnsServerOptions } from "#gtm/wire/dns/server.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { LogFields } from "#shared/logger.ts";
import type { MetricKind, MetricSpec } from "#shared/metric-name.ts";
import type { LabelKeys } from "#shared/pin-token.ts";

/** What the configuration says of DNS: plain data, the same in every thread. */
export type DnsSetup = Pick<
  DnsServerOptions,
  | "zone"
  | "limits"
  | "rateLimit"
  | "isBatched"
  | "whyAllow"
  | "defaultPool"
  | "regions"
  | "pools"
  | "models"
  | "nsid"
  | "frontAddresses"
  | "ownSubnets"
> & {
  readonly policy: Policy;
  readonly geo: { readonly provider: "builtin" | "static"; readonly static: readonly StaticSubnet[] };
};

/** What a thread is born with. */
export type Birth = {
  readonly setup: DnsSetup;
  /** Where the main thread's monotonic clock is 0, on the system's. */
  readonly clockOriginMs: number;
  /** Makes decisions' ids, the same in all threads. */
  readonly idSalt: string;
  /** How long the main thread may take to look a label up. */
  readonly labelWithinMs: number;
  /** Of the rate limiter, which all threads share. */
  readonly rateTable: SharedArrayBuffer;
};

export type CellRegion = readonly [cell: string, region: RegionId];

/** What a thread knows beside the world; as of now, where the world is as of its epoch. */
export type Facts = {
  readonly degradations: readonly { readonly what: string /** Epoch ms. */; readonly sinceMs: number }[];
  /** Of the saved reports that decisions rest on; null: live ones, or none. */
  readonly savedAtMs: number | null;
  readonly areAgesFrozen: boolean;
  readonly cookieKeys: readonly Uint8Array[];
  readonly labelKeys: LabelKeys;
};

/**
 * An epoch: what cells are decided by until the next one. Every thread has the same, so every thread decides the same;
 * the next comes after a second, or when a region's candidacy changes.
 */
export type Epoch = {
  /** Without what no cell looks at: turns on their way, and what is `learnt`. */
  readonly world: World;
  /** null: as in the epoch before. */
  readonly learnt: Learnt | null;
  /** When the epoch began, ms. */
  readonly atEpochMs: number;
  /** Where cells were sent lately, by any thread or GTM: what is new since the epoch before. */
  readonly cells: readonly CellRegion[];
};

export type ToThread =
  /** @param setup what the configuration says from this epoch on; null: as before */
  | { readonly kind: "epoch"; readonly epoch: Epoch; readonly setup: DnsSetup | null }
  | { readonly kind: "facts"; readonly facts: Facts }
  | { readonly kind: "challenge"; readonly name: string; readonly entries: readonly AcmeEntry[] }
  | { readonly kind: "labels"; readonly found: readonly LabelReply[] }
  | { readonly kind: "open"; readonly listen: readonly Listen[] }
  /** Answer what was accepted, and say when that is done. */
  | { readonly kind: "stop" };

export type LabelAsk = { readonly ask: number; readonly label: string; readonly clientSubnet: string };
/** null: the main thread has too many look-ups under way, or failed. */
export type LabelReply = { readonly ask: number; readonly found: FoundLabel | null };

/** A decision, with when it was recorded. */
export type RelayedEntry = Omit<Entry, "answered"> & { readonly recordedAtMs: number };

export type LogLine = readonly [level: "debug" | "info" | "warn" | "error", event: string, fields: LogFields];

export type Series = readonly [labels: Readonly<Record<string, string>>, value: number];
/** Of a counter what was added, of a gauge what it is now, of a histogram each observation. */
export type RelayedMetric = {
  readonly kind: MetricKind;
  readonly spec: MetricSpec;
  readonly series: readonly Series[];
};

export type Batch = {
  readonly entries: readonly RelayedEntry[];
  /** How much more often decisions were answered. */
  readonly answered: readonly (readonly [DecisionId, number])[];
  readonly metrics: readonly RelayedMetric[];
  readonly log: readonly LogLine[];
};

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "opened"; readonly addresses: readonly ListenAddress[] }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "labels"; readonly asked: readonly LabelAsk[] }
  /** Several a second, also when there is nothing to say: a thread that is silent hangs. */
  | { readonly kind: "batch"; readonly batch: Batch }
  | { readonly kind: "stopped" };
