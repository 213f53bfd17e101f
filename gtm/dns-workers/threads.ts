/** The threads that answer DNS: started together, one that ends is started again, stopped together. */
import type { Listen, ListenAddress } from "#gtm/wire/dns/listen.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createPatience, type Patience } from "./patience.ts";
import type { Snapshots } from "./snapshots.ts";
import type { Thread } from "./thread.ts";

export type Threads = {
  /** @throws what kept one of them from starting; none is left then */
  readonly start: (listen: readonly Listen[]) => Promise<readonly ListenAddress[]>;
  readonly stop: () => Promise<void>;
  /** A thread said something. */
  readonly heard: (at: number) => void;
};

export type ThreadsOptions = {
  readonly count: number;
  /** @param at 0 and up; of one that is started again the same */
  readonly spawn: (at: number) => Thread;
  readonly snapshots: Pick<Snapshots, "join" | "leave">;
  /** One is gone. */
  readonly onEnded: (at: number) => void;
  /** Some are away, and why; null: all are there. */
  readonly onAway: (reason: string | null) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly metrics: Metrics;
  readonly log: Logger;
};

/** A thread speaks ten times a second. Ticks are counted, not time: after a process slept, all have been silent for long. */
const TICK_MS = 1_000;
const SILENT_TICKS = 30;

export const createThreads = (options: ThreadsOptions): Threads => {
  const { count, spawn, snapshots, clock, log } = options;
  const places = Array.from({ length: count }, (_, at) => at);
  const alive = new Map<number, Thread>();
  const silent = new Map<number, number>();
  const followed: Promise<void>[] = [];
  const stopping = new AbortController();
  let listen: readonly Listen[] = [];
  let ticking: NodeJS.Timeout | undefined;
  const living = options.metrics.gauge({ name: "gtm_dns_workers", help: "Threads that answer DNS now." });
  const restarts = options.metrics.counter({
    name: "gtm_dns_worker_restarts_total",
    help: "Threads that answered DNS, ended, and were started again.",
  });

  const join = async (thread: Thread): Promise<void> => {
    const gone = thread.ended.then((why) => Promise.reject(new Error(`the thread ended: ${why}`)));
    await Promise.race([snapshots.join(thread.tell), gone]);
  };
  const lay = async (thread: Thread): Promise<void> => {
    snapshots.leave(thread.tell);
    await thread.end();
  };
  const keep = (at: number, thread: Thread): void => {
    alive.set(at, thread);
    silent.set(at, 0);
    living.set(alive.size);
    if (alive.size === count) options.onAway(null);
  };
  const lose = (at: number, thread: Thread, why: string): void => {
    alive.delete(at);
    living.set(alive.size);
    snapshots.leave(thread.tell);
    options.onEnded(at);
    if (!stopping.signal.aborted)
      options.onAway(`${count - alive.size} of ${count} DNS threads are away: ${lineOf(why)}`);
  };
  const raiseAgain = async (at: number): Promise<Thread> => {
    restarts.inc();
    const thread = spawn(at);
    try {
      await thread.ready;
      await join(thread);
      await thread.open(listen);
      return thread;
    } catch (fault) {
      await lay(thread);
      throw fault;
    }
  };
  /** @returns null: it was given up, since all are being stopped */
  const restart = async (at: number, why: string, patience: Patience): Promise<Thread | null> => {
    for (let cause = why; ; ) {
      const restartInMs = patience.nextMs();
      log.error("dns.worker-ended", { worker: at, fault: cause, restartInMs });
      if (!(await patience.wait(restartInMs, stopping.signal))) return null;
      try {
        return await raiseAgain(at);
      } catch (fault) {
        cause = fault instanceof Error ? fault.message : String(fault);
      }
    }
  };
  /** For as long as the threads are wanted. */
  const follow = async (at: number, first: Thread): Promise<void> => {
    const patience = createPatience(clock);
    for (let thread: Thread | null = first; thread !== null; ) {
      const why = await thread.ended;
      lose(at, thread, why);
      if (stopping.signal.aborted) return;
      thread = await restart(at, why, patience);
      if (thread === null) return;
      keep(at, thread);
      log.info("dns.worker-started", { worker: at });
      // All were stopped while it started, and nobody knew of it.
      if (stopping.signal.aborted) await thread.stop();
    }
  };
  const look = (): void => {
    for (const [at, thread] of alive) {
      const ticks = (silent.get(at) ?? 0) + 1;
      silent.set(at, ticks);
      if (ticks !== SILENT_TICKS) continue;
      log.error("dns.worker-silent", { worker: at, silentMs: ticks * TICK_MS });
      void thread.end();
    }
  };

  return {
    start: async (wanted) => {
      const threads = places.map(spawn);
      try {
        await Promise.all(threads.map(({ ready }) => ready));
        // Together, so that none waits for the others' next epoch.
        await Promise.all(threads.map(join));
        const [first, ...others] = threads;
        const addresses = (await first?.open(wanted)) ?? [];
        // Where any port will do, the first one's is everybody's.
        await Promise.all(others.map((thread) => thread.open(addresses)));
        listen = addresses;
      } catch (fault) {
        await Promise.all(threads.map(lay));
        throw fault;
      }
      for (const [at, thread] of threads.entries()) {
        keep(at, thread);
        followed.push(follow(at, thread));
      }
      ticking = setInterval(look, TICK_MS).unref();
      return listen as readonly ListenAddress[];
    },
    stop: async () => {
      clearInterval(ticking);
      stopping.abort();
      await Promise.all([...alive.values()].map((thread) => thread.stop()));
      await Promise.all(followed);
    },
    heard: (at) => {
      silent.set(at, 0);
    },
  };
};

const lineOf = (text: string): string => text.split("\n", 1)[0] ?? "";
