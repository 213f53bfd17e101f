/** `edge-agent run`: reports until it is told to stop. */
import { setFlagsFromString } from "node:v8";
import type { Clock } from "#shared/clock.ts";
import { createLifecycle, type Part, runUntilSignal } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import type { AgentConfig } from "../config.ts";
import { createListener, toldOf } from "../listener.ts";
import { type RunningAgent, startAgent } from "../start-agent.ts";

const STOP_DEADLINE_MS = 10_000;
/**
 * What is kept is small and lives a minute, what comes and goes is large: left to itself the heap grows to many times what it
 * holds before it is looked through. Measured by test/bench/agent.bench.ts.
 */
const SMALL_HEAP = ["--heap-growing-percent=12"] as const;

/** Reports older than this are stale to the GTMs. */
const STALE_AFTER_MS = 5_000;

/** @returns the exit code */
export const run = async (config: AgentConfig, clock: Clock, log: Logger): Promise<number> => {
  for (const flag of SMALL_HEAP) setFlagsFromString(flag);
  const metrics = createMetrics();
  const store = openStore(config.store, { clock, log, name: `edge-agent/${config.region}/${config.agent}` });
  let agent: RunningAgent | null = null;
  const whyNotReady = (): string | null => {
    const putAtMs = agent?.lastPutAtMs() ?? null;
    if (putAtMs === null) return "no report has been put yet";
    const ageMs = clock.monotonicMs() - putAtMs;
    return ageMs > STALE_AFTER_MS ? `the last report was put ${Math.round(ageMs / 1_000)} s ago` : null;
  };
  const listener = createListener({ listen: config.metrics.listen, metrics, whyNotReady, pages: new Map() });
  const parts: readonly Part[] = [
    { name: "store", start: async () => {}, stop: () => store.close() },
    toldOf(listener, log),
    {
      name: "agent",
      start: async () => {
        agent = await startAgent(config, store, { clock, log, metrics });
      },
      stop: async () => agent?.stop(),
    },
  ];
  const lifecycle = createLifecycle(parts, { log, stopDeadlineMs: STOP_DEADLINE_MS });
  return runUntilSignal(lifecycle, { log, signals: process });
};
