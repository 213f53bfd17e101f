/** The parts of the agent put together as the configuration says. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#shared/clock.ts";
import { readSecretFile } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import { keyIn, LEAST_KEY_OCTETS } from "#shared/key-text.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { type Agent, type AgentSettings, createAgent } from "./agent.ts";
import type { AgentConfig } from "./config.ts";
import { engineSources, gpuTargets } from "./configured-sources.ts";
import { createConnections } from "./connections.ts";
import { addressOf } from "./engine-config.ts";
import { createFetchText } from "./fetch-text.ts";
import { createGatewayScrape, type GatewayTarget } from "./gateway-scrape.ts";
import { createPublish } from "./publish.ts";
import { createRunCommand } from "./run-command.ts";
import { createScrape } from "./scrape.ts";
import { createAgentSignals } from "./signals.ts";
import { VERSION } from "./version.ts";

/** A round waits for this share of its interval, and is put with what has come by then. */
const PATIENCE_FRACTION = 0.75;
/** Sources begin within this share of the interval. */
const SPREAD_FRACTION = 0.1;

export type AgentOptions = { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics };

export type RunningAgent = {
  /** Lets a round that is being published end; what is still being asked is cut short. */
  readonly stop: () => Promise<void>;
  /** Monotonic ms of the last report that the store took; null: none yet. */
  readonly lastPutAtMs: () => number | null;
};

/**
 * Starts reporting. Any number of agents may run in one process, on one store.
 *
 * @returns once the first round has ended, whether or not the store took its report
 * @throws {OperationalError} GTM_CONFIG_UNREADABLE or AGENT_CONFIG_INVALID for a secret that cannot be used
 */
export const startAgent = async (config: AgentConfig, store: Store, options: AgentOptions): Promise<RunningAgent> => {
  const { agent, close, lastPutAtMs } = buildAgent(config, store, options, "running");
  const stopping = new AbortController();
  const firstRound = Promise.withResolvers<void>();
  const running = agent.run(stopping.signal, firstRound.resolve);
  options.log.info("agent.started", { region: config.region, agent: config.agent, engines: config.engines.length });
  await Promise.race([firstRound.promise, running]);
  // A bug in a later round must reach the edge of the process: nobody handles this second promise.
  void running.then(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await running;
      close();
      options.log.info("agent.stopped", { region: config.region, agent: config.agent });
    },
    lastPutAtMs,
  };
};

export type BuiltAgent = {
  readonly agent: Agent;
  readonly close: () => void;
  readonly lastPutAtMs: RunningAgent["lastPutAtMs"];
};

/** `once`: every source is waited for, since there is no later round. */
export type Rounds = "running" | "once";

/** The same agent without a run: for one look, or two. */
export const buildAgent = (
  config: AgentConfig,
  store: Store,
  { clock, log, metrics }: AgentOptions,
  rounds: Rounds = "once",
): BuiltAgent => {
  const { deadline: deadlineMs, concurrency } = config.scrape;
  // Whoever looks once has time for introductions, which take three answers one after another.
  const engineDeadlineMs = rounds === "once" ? 3 * deadlineMs : deadlineMs;
  const connections = createConnections();
  const signals = createAgentSignals(config.region, { clock, log, metrics });
  let lastPutAtMs: number | null = null;
  const reportPut = (): void => {
    lastPutAtMs = clock.monotonicMs();
    signals.reportPut();
  };
  const waitUntil = async (atMs: number, signal: AbortSignal): Promise<void> => {
    await sleep(Math.max(0, atMs - clock.monotonicMs()), undefined, { signal }).catch(() => undefined);
  };
  const polls = {
    clock,
    waitUntil,
    random: Math.random,
    patienceMs:
      rounds === "once" ? engineDeadlineMs * 2 : Math.min(deadlineMs, config.report.interval * PATIENCE_FRACTION),
    firstPatienceMs: engineDeadlineMs * 2,
    spreadMs: rounds === "once" ? 0 : config.report.interval * SPREAD_FRACTION,
    most: concurrency,
    onAsked: signals.sourceAsked,
  };
  const sources = engineSources(config, { clock, log });
  const scrape = createScrape(
    { engines: sources.engines, gpus: gpuTargets(config) },
    { ...polls, deadlineMs, engineDeadlineMs, runCommand: createRunCommand(deadlineMs) },
  );
  const ports = {
    clock,
    ...scrape,
    scrapeGateways: createGatewayScrape(gatewayTargets(config), createFetchText(connections, deadlineMs), polls),
    publish: createPublish({ store, clock, signals: { ...signals, reportPut } }),
    waitUntil,
    log,
    signals,
  };
  const agent = createAgent(ports, settingsOf(config));
  return {
    agent: {
      ...agent,
      // Names are asked before the first round, which would find nobody behind them.
      nextRound: async (signal) => {
        await sources.ready();
        return agent.nextRound(signal);
      },
      run: async (signal, onRound) => {
        await sources.ready();
        await agent.run(signal, onRound);
      },
    },
    close: () => {
      connections.destroy();
      scrape.close();
    },
    lastPutAtMs: () => lastPutAtMs,
  };
};

const gatewayTargets = (config: AgentConfig): readonly GatewayTarget[] =>
  config.gateways.map(({ url }) => ({ url: url.replace(/\/+$/, ""), source: addressOf(url) ?? url }));

const settingsOf = (config: AgentConfig): AgentSettings => ({
  identity: { region: config.region, agent: config.agent, boot: randomUUID() },
  version: VERSION,
  intervalMs: config.report.interval,
  gpuUuids: config.gpus?.uuids ?? [],
  models: new Map(
    config.models.map((model) => [
      model.id as string,
      {
        weightBytes: model.weight_bytes,
        coldStartMs: model.cold_start,
        prefillTokensPerSecond: model.prefill_tokens_per_second,
        kvCapacityTokens: model.kv_capacity_tokens,
      },
    ]),
  ),
  reportKey: config.report.key_file === null ? null : reportKeyIn(config.report.key_file),
});

const reportKeyIn = (path: string): Uint8Array => {
  const key = keyIn(readSecretFile(path));
  if (key !== null) return key;
  throw new OperationalError(
    "AGENT_CONFIG_INVALID",
    `${path}: expected a report key, at least ${LEAST_KEY_OCTETS} octets in base64`,
  );
};
