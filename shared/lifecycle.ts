/** Parts of a program started in order and stopped in reverse, within a deadline. */
import { OperationalError } from "./errors.ts";
import type { Logger } from "./logger.ts";

export type Part = {
  /** For logs and errors, such as "dns". */
  readonly name: string;
  /** Resolves once the part does its work; after a rejection `stop` is not called. */
  readonly start: () => Promise<void>;
  /** Resolves once nothing that was accepted is left undone. */
  readonly stop: () => Promise<void>;
};

export type Lifecycle = {
  /** @throws what the failing part threw, after the started ones have been stopped in reverse */
  readonly start: () => Promise<void>;
  /**
   * Stops what has been started; asked twice, it is one stop.
   *
   * @throws {OperationalError} GTM_SHUTDOWN_TIMEOUT, naming the part that was not done at the deadline
   * @throws the first fault of a part that failed to stop; the others have been stopped nevertheless
   */
  readonly stop: () => Promise<void>;
};

type LifecycleOptions = {
  readonly log: Logger;
  /** For all parts together. */
  readonly stopDeadlineMs: number;
};

export const createLifecycle = (parts: readonly Part[], { log, stopDeadlineMs }: LifecycleOptions): Lifecycle => {
  const started: Part[] = [];
  let starting: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | null = null;

  const startAll = async (): Promise<void> => {
    for (const part of parts) {
      if (stopping !== null) return;
      await part.start();
      started.push(part);
      log.info("part.started", { part: part.name });
    }
  };

  const stopStarted = async (progress: { part: string }): Promise<void> => {
    const faults: unknown[] = [];
    for (let part = started.pop(); part !== undefined; part = started.pop()) {
      progress.part = part.name;
      try {
        await part.stop();
        log.info("part.stopped", { part: part.name });
      } catch (fault) {
        log.error("part.stop-failed", { part: part.name, fault: String(fault) });
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  };

  const stopWithinDeadline = async (): Promise<void> => {
    const progress = { part: "a part that is still starting" };
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `expected all parts to stop within ${stopDeadlineMs} ms, still waiting for ${progress.part}`;
        reject(new OperationalError("GTM_SHUTDOWN_TIMEOUT", message));
      }, stopDeadlineMs);
    });
    try {
      // A part that is just starting is let finish, so that it can be stopped.
      const startEnded = starting.catch(() => undefined);
      await Promise.race([startEnded.then(() => stopStarted(progress)), deadline]);
    } finally {
      clearTimeout(timer);
    }
  };

  const stop = (): Promise<void> => {
    stopping ??= stopWithinDeadline();
    return stopping;
  };

  return {
    start: async () => {
      starting = startAll();
      try {
        await starting;
      } catch (fault) {
        // What stopping adds has been logged; the caller must learn why the start failed.
        await stop().catch((also) => log.warn("part.stop-after-failed-start", { fault: String(also) }));
        throw fault;
      }
    },
    stop,
  };
};

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNAL_NUMBERS;

/**
 * The edge of a process: starts, runs until SIGTERM or SIGINT, stops. A second signal does not wait for the stop, and a
 * bug (an exception or rejection that nobody caught) does not try one.
 *
 * @param options.signals `process`; a test's own emitter
 * @returns the exit code: 0 stopped, 1 a fault, 128 + the signal's number where a second one came. The caller exits with
 * it at once, since parts may still be open.
 */
export const runUntilSignal = async (
  lifecycle: Lifecycle,
  { log, signals }: { readonly log: Logger; readonly signals: Pick<NodeJS.EventEmitter, "on" | "off"> },
): Promise<number> => {
  const asked = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<number>();
  let isAsked = false;

  const onSignal = (signal: Signal): void => {
    if (isAsked) {
      log.warn("process.aborted", { signal });
      aborted.resolve(128 + SIGNAL_NUMBERS[signal]);
      return;
    }
    isAsked = true;
    log.info("process.stopping", { signal });
    asked.resolve();
  };
  let isBroken = false;
  const onBug = (fault: unknown): void => {
    // Where the log itself is what broke, to tell of it would be the next bug, without end.
    if (isBroken) return;
    isBroken = true;
    logFault(log, "process.bug", fault);
    aborted.resolve(1);
  };
  const run = async (): Promise<number> => {
    const started = lifecycle.start().then(
      () => log.info("process.started"),
      (fault) => {
        logFault(log, "process.start-failed", fault);
        throw fault;
      },
    );
    try {
      await Promise.race([started, asked.promise]);
      await asked.promise;
    } catch {
      return 1;
    }
    try {
      await lifecycle.stop();
      log.info("process.stopped");
      return 0;
    } catch (fault) {
      logFault(log, "process.stop-failed", fault);
      return 1;
    }
  };

  const listeners = { SIGTERM: onSignal, SIGINT: onSignal, uncaughtException: onBug, unhandledRejection: onBug };
  for (const [event, listener] of Object.entries(listeners)) signals.on(event, listener);
  try {
    return await Promise.race([run(), aborted.promise]);
  } finally {
    for (const [event, listener] of Object.entries(listeners)) signals.off(event, listener);
  }
};

/** An OperationalError tells an operator what to do; anything else is a bug and tells a developer where. */
const logFault = (log: Logger, event: string, fault: unknown): void => {
  if (fault instanceof OperationalError) log.error(event, { code: fault.code, message: fault.message });
  else log.error("process.bug", { during: event, stack: (fault instanceof Error && fault.stack) || String(fault) });
};
