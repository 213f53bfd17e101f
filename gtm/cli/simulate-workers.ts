/** Plays runs in threads, as many at once as asked for; the order of their ends does not matter to who asked. */
import { Worker } from "node:worker_threads";
import type { PlayedRun } from "#gtm/simulation/report/report.ts";
import { type ErrorCode, OperationalError } from "#shared/errors.ts";
import type { Job, PlannedPolicy, PlannedScenario } from "./simulate-plan.ts";

/** What a thread is asked. */
export type Play = { readonly scenario: PlannedScenario; readonly policy: PlannedPolicy; readonly seed: number };

/** What a thread says. */
export type PlaySaid =
  | { readonly kind: "progress"; readonly virtualMs: number }
  | { readonly kind: "played"; readonly run: PlayedRun }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string };

export type Runs = {
  readonly threads: number;
  readonly playOf: (job: Job) => Play;
  readonly onProgress: (job: Job, virtualMs: number) => void;
  readonly onPlayed: (job: Job, run: PlayedRun) => void;
  readonly signal: AbortSignal;
};

/**
 * Until all are played, or the signal says to stop: then what is under way is dropped.
 *
 * @throws {OperationalError} the first that a run failed with; the others are dropped
 * @throws what a thread died of, which is a bug
 */
export const playAll = async (jobs: readonly Job[], runs: Runs): Promise<void> => {
  const waiting = jobs.values();
  const failed = new AbortController();
  const signal = AbortSignal.any([runs.signal, failed.signal]);
  const count = Math.max(1, Math.min(runs.threads, jobs.length));
  const ends = await Promise.allSettled(
    Array.from({ length: count }, async () => {
      try {
        await playSome(waiting, runs, signal);
      } catch (error) {
        failed.abort();
        throw error;
      }
    }),
  );
  const end = ends.find(({ status }) => status === "rejected");
  if (end?.status === "rejected") throw end.reason;
};

const playSome = async (waiting: Iterator<Job>, runs: Runs, signal: AbortSignal): Promise<void> => {
  const worker = new Worker(new URL("./simulate-worker.ts", import.meta.url));
  const stop = (): void => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (let next = waiting.next(); next.done !== true && !signal.aborted; next = waiting.next()) {
      const run = await playOne(worker, next.value, runs, signal);
      if (run !== null) runs.onPlayed(next.value, run);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
};

/** @returns null: it was told to stop */
const playOne = async (worker: Worker, job: Job, runs: Runs, signal: AbortSignal): Promise<PlayedRun | null> => {
  const { promise, resolve, reject } = Promise.withResolvers<PlayedRun | null>();
  const onMessage = (said: PlaySaid): void => {
    switch (said.kind) {
      case "progress":
        runs.onProgress(job, said.virtualMs);
        return;
      case "played":
        resolve(said.run);
        return;
      case "failed":
        reject(new OperationalError(said.code, said.message));
        return;
    }
  };
  const onExit = (code: number): void =>
    signal.aborted ? resolve(null) : reject(new Error(`a thread of the simulation ended with ${code}`));
  worker.on("message", onMessage).on("error", reject).on("exit", onExit);
  try {
    worker.postMessage(runs.playOf(job));
    return await promise;
  } finally {
    worker.off("message", onMessage).off("error", reject).off("exit", onExit);
  }
};
