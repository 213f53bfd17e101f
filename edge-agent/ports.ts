/** What the agent's main flow needs from outside: answers of engines and exporters, time, and somewhere to put the report. */
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { RegionReport, ReportFault } from "#shared/report.ts";
import type { Wording } from "./engines/wording.ts";
import type { Fault } from "./exposition.ts";
import type { GatewayAnswer } from "./gateway-overlay.ts";
import type { GpuClaim } from "./gpu/model-gpus.ts";
import type { AgentSignals } from "./signals.ts";

/** One HTTP answer. A failure is a value: a source that cannot be read makes fields unknown, it stops nothing. */
export type Fetched =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly contentType: string;
      /** UTF-8. Of a page that is asked again and again: valid until it is asked for the next but one time. */
      readonly octets: Buffer;
    }
  | { readonly kind: "failed"; readonly code: FetchFailure };

export type FetchFailure =
  /** Not whole within the deadline. */
  | "timed-out"
  /** More octets than a page may have; the rest was not read. */
  | "too-large"
  /** The connection ended before the body did. */
  | "half-sent"
  /** Nothing listens there. */
  | "refused"
  | "unreachable"
  /** Its certificate is not believed. */
  | "untrusted"
  /** Redirected to another origin, or round and round. */
  | "redirected"
  /** Compressed although nobody asked for it. */
  | "encoded";

export type EngineAnswers = {
  /** The metrics page, from the first of the engine's paths that has one; null: it was not asked for. */
  readonly metrics: Fetched | null;
  readonly models: Fetched;
  /** null: the engine has none. */
  readonly health: Fetched | null;
  /** What else was asked, by path with its query. */
  readonly further: ReadonlyMap<string, Fetched>;
  /** Of the way there: files of credentials that cannot be used. */
  readonly faults: readonly Fault[];
  /** When the metrics came; another source's silence must not stretch the time that counters are divided by. */
  readonly atMs: number;
  readonly atEpochMs: number;
};

/** What is known of an address before it is asked: who it is, and so which paths it has. */
export type KnownEngine = {
  readonly engine: string | null;
  /** Optional paths that it has not. */
  readonly absentPaths: ReadonlySet<string>;
};

/** As the configuration wants an engine's answers read; `wish` is its name or `auto`. */
export type ReadAs = { readonly wish: string } & Wording;

export type EngineRound = {
  /** All engines of this moment, in their order; one that is not here any more is gone. */
  readonly engines: readonly ({ readonly address: string; readonly gpus: GpuClaim } & ReadAs)[];
  /** What came since the last round, by address. Who is not here has not answered yet. */
  readonly answers: ReadonlyMap<string, EngineAnswers>;
  /** Of discovery. */
  readonly faults: readonly ReportFault[];
};

export type CommandOutput =
  | { readonly kind: "ended"; readonly exitCode: number; readonly text: string }
  | { readonly kind: "failed"; readonly code: "timed-out" | "too-large" | "not-runnable" };

export type GpuAnswer =
  /** A page of dcgm-exporter or of AMD's device-metrics-exporter; `source` is where it came from. */
  | { readonly kind: "page"; readonly source: string; readonly page: Fetched }
  | { readonly kind: "nvidia-smi"; readonly source: "nvidia-smi"; readonly output: CommandOutput };

export type AgentPorts = {
  readonly clock: Clock;
  /** Asks all engines that are there at once, each within the deadline; who was late last time is not waited for. Never rejects. */
  readonly scrapeEngines: (known: (address: string) => KnownEngine, signal: AbortSignal) => Promise<EngineRound>;
  /** One for each exporter; null: none are configured. Never rejects. */
  readonly scrapeGpus: (signal: AbortSignal) => Promise<readonly GpuAnswer[] | null>;
  /** One for each configured gateway, in that order. Never rejects. */
  readonly scrapeGateways: (signal: AbortSignal) => Promise<readonly GatewayAnswer[]>;
  /** Puts the report as it is to be read. Never rejects: a store that is away is a counter, and the next report is newer. */
  readonly publish: (report: RegionReport) => Promise<void>;
  /** Resolves at that monotonic time, or at once when the signal is aborted. */
  readonly waitUntil: (atMs: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  readonly signals: AgentSignals;
};
