/** Asks each region's probe address whether it serves, from where the GTM stands: what reports cannot say of the way there. */
import { isDeepStrictEqual } from "node:util";
import { type ProbeFact, probedOnce } from "#gtm/domain/health.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createProbeRequest, type ProbeAddress, type ProbeOutcome, type ProbeRequest } from "./probe-request.ts";

export type ProbeTarget = ProbeAddress & {
  readonly region: RegionId;
  readonly intervalMs: number;
  /** Failures in a row that make it down. */
  readonly fall: number;
  /** Good ones in a row that bring it back. */
  readonly rise: number;
};

export type ProbesOptions = {
  /** At first; see `aim`. */
  readonly targets: readonly ProbeTarget[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A result came that says something new. */
  readonly onChanged: () => void;
  /** By HTTP where absent. */
  readonly request?: ProbeRequest;
};

export type Probes = Part & {
  /** A region is absent until its first result: unknown is not down. */
  readonly facts: () => ReadonlyMap<RegionId, ProbeFact>;
  /** From now on these and no others are asked; one that is asked elsewhere is unknown again, the rest of what is known stands. */
  readonly aim: (targets: readonly ProbeTarget[]) => void;
};

export const createProbes = (options: ProbesOptions): Probes => {
  const { clock, log } = options;
  let targets = options.targets;
  let isStarted = false;
  const http = options.request ?? createProbeRequest();
  const facts = new Map<RegionId, ProbeFact>();
  const timers = new Map<RegionId, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let isStopped = false;
  const probes = options.metrics.counter({
    name: "gtm_probes_total",
    help: "Active probes by region and outcome: good, status (not 2xx), timeout, error, or late: this process was, and it says nothing.",
    labels: ["region", "outcome"],
  });

  const probe = async (target: ProbeTarget): Promise<void> => {
    const outcome = await http.request(target);
    // Asked for no longer: what came says nothing of the region as it is configured now.
    if (isStopped || !targets.includes(target)) return;
    const { region } = target;
    probes.inc({ region, outcome: outcome.kind });
    if (outcome.kind === "late") {
      log.warn("probe.late", { region, detail: outcome.detail });
      return;
    }
    const before = facts.get(region) ?? null;
    const fact = probedOnce(before, outcome.kind === "good", target);
    facts.set(region, fact);
    if (fact.isDown !== (before?.isDown ?? false)) tell(log, target, fact, outcome);
    const isNews = before === null || before.isDown !== fact.isDown || before.failedInARow !== fact.failedInARow;
    if (isNews) options.onChanged();
  };
  /** The next one is due an interval after the last was, however long it took; two never overlap. */
  const schedule = (target: ProbeTarget, inMs: number): void => {
    const timer = setTimeout(() => {
      const startedAtMs = clock.monotonicMs();
      const run = probe(target).finally(() => {
        running.delete(run);
        if (!isStopped && targets.includes(target))
          schedule(target, Math.max(0, target.intervalMs - (clock.monotonicMs() - startedAtMs)));
      });
      running.add(run);
    }, inMs);
    timer.unref();
    timers.set(target.region, timer);
  };

  /** Spread over the interval, so that they do not wait for each other's sockets. */
  const scheduleAll = (some: readonly ProbeTarget[]): void => {
    for (const [at, target] of some.entries()) schedule(target, (at / some.length) * target.intervalMs);
  };

  return {
    name: "probes",
    facts: () => new Map(facts),
    aim: (wanted) => {
      const kept = wanted.map((one) => targets.find((before) => isDeepStrictEqual(before, one)) ?? one);
      for (const before of targets.filter((one) => !kept.includes(one))) {
        clearTimeout(timers.get(before.region));
        timers.delete(before.region);
        const now = kept.find(({ region }) => region === before.region);
        if (now?.url !== before.url || now.host !== before.host) facts.delete(before.region);
      }
      const fresh = kept.filter((one) => !targets.includes(one));
      targets = kept;
      if (isStarted && !isStopped) scheduleAll(fresh);
    },
    start: async () => {
      isStopped = false;
      isStarted = true;
      scheduleAll(targets);
    },
    stop: async () => {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await http.close();
      await Promise.allSettled(running);
    },
  };
};

const tell = (log: Logger, { region, url }: ProbeTarget, fact: ProbeFact, outcome: ProbeOutcome): void => {
  const detail = outcome.kind === "good" ? null : outcome.detail;
  if (fact.isDown)
    log.warn("probe.down", { region, url, failedInARow: fact.failedInARow, outcome: outcome.kind, detail });
  else log.info("probe.up", { region, url });
};
