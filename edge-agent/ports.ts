/** What the agent's main flow needs from outside: answers of engines and exporters, time, and somewhere to put the report. */
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { RegionReport } from "#shared/report.ts";
import type { GatewayAnswer } from "./gateway-overlay.ts";
import type { AgentSignals } from "./signals.ts";

/** One HTTP answer. A failure is a value: a source that cannot be read makes fields unknown, it stops nothing. */
export type Fetched =
  | { readonly kind: "answered"; readonly status: number; readonly contentType: string; readonly text: string }
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
  /** Redirected to another origin, or round and round. */
  | "redirected"
  /** Compressed although nobody asked for it. */
  | "encoded";

export type EngineAnswers = {
  readonly metrics: Fetched;
  readonly models: Fetched;
  readonly health: Fetched;
  /** When the metrics came; another source's silence must not stretch the time that counters are divided by. */
  readonly atMs: number;
  readonly atEpochMs: number;
};

export type CommandOutput =
  | { readonly kind: "ended"; readonly exitCode: number; readonly text: string }
  | { readonly kind: "failed"; readonly code: "timed-out" | "too-large" | "not-runnable" };

export type GpuAnswer =
  | { readonly source: "dcgm"; readonly page: Fetched }
  | { readonly source: "nvidia-smi"; readonly output: CommandOutput };

export type AgentPorts = {
  readonly clock: Clock;
  /** One for each configured engine, in that order, all asked at once, each within the deadline. Never rejects. */
  readonly scrapeEngines: (signal: AbortSignal) => Promise<readonly EngineAnswers[]>;
  /** null: none are configured. Never rejects. */
  readonly scrapeGpus: (signal: AbortSignal) => Promise<GpuAnswer | null>;
  /** One for each configured gateway, in that order. Never rejects. */
  readonly scrapeGateways: (signal: AbortSignal) => Promise<readonly GatewayAnswer[]>;
  /** Puts the report as it is to be read. Never rejects: a store that is away is a counter, and the next report is newer. */
  readonly publish: (report: RegionReport) => Promise<void>;
  /** Resolves at that monotonic time, or at once when the signal is aborted. */
  readonly waitUntil: (atMs: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  readonly signals: AgentSignals;
};
