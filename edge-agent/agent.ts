/** The agent's main flow: ask engines and gateways, read what they say, learn from it, assemble the report, publish it; each second again. */

import { signedWith } from "#shared/region-signature.ts";
import type { RegionReport } from "#shared/report.ts";
import { assemble, type Identity } from "./assemble.ts";
import { type Endpoint, learn, newEndpoint } from "./endpoint.ts";
import { withGateways } from "./gateway-overlay.ts";
import type { AgentPorts } from "./ports.ts";
import { readEngine, readGpus } from "./read-answers.ts";
import type { ModelSettings } from "./replica-report.ts";

export type AgentSettings = {
  readonly identity: Identity;
  /** Of this program. */
  readonly version: string;
  readonly intervalMs: number;
  /** Of the GPUs that serve; empty: all. */
  readonly gpuUuids: readonly string[];
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** The region's report key; null: reports are not signed. */
  readonly reportKey: Uint8Array | null;
};

export type AgentRound = { readonly report: RegionReport; readonly endpoints: readonly Endpoint[] };

export type Agent = {
  /** One round without publishing: the report as it would be put, and what it was made of. */
  readonly nextRound: (signal: AbortSignal) => Promise<AgentRound>;
  /** Rounds without end, until the signal is aborted; `onRound` hears of each. */
  readonly run: (signal: AbortSignal, onRound: () => void) => Promise<void>;
};

export const createAgent = (ports: AgentPorts, settings: AgentSettings): Agent => {
  const { clock, signals } = ports;
  let endpoints: ReadonlyMap<string, Endpoint> = new Map();
  let seq = 0;

  const nextRound = async (signal: AbortSignal): Promise<AgentRound> => {
    const known = (address: string) => endpoints.get(address) ?? newEndpoint(address);
    const [found, gpuAnswers, gateways] = await Promise.all([
      ports.scrapeEngines(known, signal),
      ports.scrapeGpus(signal),
      ports.scrapeGateways(signal),
    ]);
    endpoints = new Map(
      found.engines.map(({ address, ...readAs }) => {
        const before = endpoints.get(address) ?? newEndpoint(address);
        const answers = found.answers.get(address);
        return [address, answers === undefined ? before : learn(before, readEngine(answers, before, readAs))];
      }),
    );
    const gpus = gpuAnswers === null ? null : readGpus(gpuAnswers, settings.gpuUuids);
    seq += 1;
    const { faults } = found;
    const claims = new Map(found.engines.map(({ address, gpus: claim }) => [address, claim]));
    const reportedAtMs = Math.round(clock.epochMs());
    const round = { seq, reportedAtMs, endpoints: [...endpoints.values()], gpus, claims, faults };
    const assembled = assemble(settings.identity, round, settings.models);
    const report = withGateways({ ...assembled, agentVersion: settings.version }, gateways);
    return {
      report: settings.reportKey === null ? report : signedWith(report, settings.reportKey),
      endpoints: round.endpoints,
    };
  };

  const run = async (signal: AbortSignal, onRound: () => void): Promise<void> => {
    let dueAtMs = clock.monotonicMs();
    while (!signal.aborted) {
      const startedAtMs = clock.monotonicMs();
      const { report } = await nextRound(signal);
      // What came while stopping was cut short: it would say that everything is out of time.
      if (signal.aborted) return;
      await ports.publish(report);
      signals.roundEnded(report, clock.monotonicMs() - startedAtMs);
      onRound();
      const late = intervalsUntil(dueAtMs, clock.monotonicMs(), settings.intervalMs);
      signals.roundsSkipped(late - 1);
      dueAtMs += late * settings.intervalMs;
      await ports.waitUntil(dueAtMs, signal);
    }
  };

  return { nextRound, run };
};

/** Rounds begin on a grid, so that they neither drift nor overlap: at the first point after the last one ended. */
const intervalsUntil = (dueAtMs: number, nowMs: number, intervalMs: number): number =>
  Math.max(1, Math.ceil((nowMs - dueAtMs) / intervalMs));
