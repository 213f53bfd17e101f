/** Engine simulators in this process, quick enough for tests. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { DEFAULT_SIMULATOR, type EngineSimulatorOptions } from "#deploy/demo/engine-simulator/options.ts";
import { createEngineSimulator } from "#deploy/demo/engine-simulator/simulator.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";

export const SIMULATED_MODEL = "meta-llama/Llama-3.3-70B-Instruct";
export const SIMULATED_ALIAS = "llama-3.3-70b";

/** 0.01 ms a token, and 2 ms between two tokens of an answer. */
export const QUICK_ENGINE: EngineSimulatorOptions["engine"] = {
  ...DEFAULT_SIMULATOR.engine,
  speed: { linMs: 0.01, attnMs: 0 },
  itlMs: 2,
};

export type RunningSimulator = AsyncDisposable & {
  readonly origin: string;
  readonly port: number;
  /** The parsed answer of GET or, with a body, POST. */
  readonly json: (path: string, body?: unknown) => Promise<unknown>;
  readonly text: (path: string) => Promise<string>;
  /** Asks for the state until it is as told; fails after 5 s. */
  readonly until: (isSo: (state: SimState) => boolean) => Promise<SimState>;
};

/** Of `GET /sim/state`, what tests look at. */
export type SimState = {
  readonly startedAtMs: number;
  readonly replicas: readonly {
    readonly running: number;
    readonly waiting: number;
    readonly backlogMs: number;
    readonly kvUsedFraction: number;
    readonly held: number;
    readonly counters: { readonly finished: Readonly<Record<"stop" | "length" | "abort", number>> };
  }[];
};

const PATIENCE_MS = 5_000;

export const startSimulator = async (wish: Partial<EngineSimulatorOptions> = {}): Promise<RunningSimulator> => {
  const simulator = createEngineSimulator({
    ...DEFAULT_SIMULATOR,
    listen: { address: "127.0.0.1", port: 0 },
    region: "eu-central",
    model: SIMULATED_MODEL,
    aliases: [SIMULATED_ALIAS],
    replicas: 2,
    engine: QUICK_ENGINE,
    drainMs: 100,
    clock: systemClock,
    log: silentLogger,
    ...wish,
  });
  await simulator.start();
  const { address, port } = simulator.address();
  const origin = `http://${address}:${port}`;
  const post = (body: unknown): RequestInit => ({ method: "POST", body: JSON.stringify(body) });
  const json = async (path: string, body?: unknown): Promise<unknown> =>
    (await fetch(origin + path, body === undefined ? {} : post(body))).json();
  return {
    origin,
    port,
    json,
    until: async (isSo) => {
      const deadlineMs = systemClock.monotonicMs() + PATIENCE_MS;
      for (;;) {
        // While the simulator restarts nobody answers.
        const state = (await json("/sim/state").catch(() => null)) as SimState | null;
        if (state !== null && isSo(state)) return state;
        assert.ok(systemClock.monotonicMs() < deadlineMs, `not so after 5 s: ${JSON.stringify(state)}`);
        await pause(5);
      }
    },
    text: async (path) => (await fetch(origin + path)).text(),
    [Symbol.asyncDispose]: simulator.stop,
  };
};
