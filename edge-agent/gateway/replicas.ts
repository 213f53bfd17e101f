/** The gateway's replicas put together: looked at, chosen among, watched, measured; what is learnt goes to the store and to the agent. */
import { randomUUID } from "node:crypto";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Labels } from "#shared/pin-token.ts";
import type { Store } from "#shared/store.ts";
import type { ModelSettings } from "../replica-report.ts";
import { createLedger } from "./ledger.ts";
import { createAnnouncer } from "./measured.ts";
import type { Choice, Replicas, Turn } from "./ports.ts";
import type { Replica } from "./replica.ts";
import { replicaFacts } from "./replica-facts.ts";
import { createReplicaMetrics } from "./replica-metrics.ts";
import { type ReplicaPage, replicaPage } from "./replica-page.ts";
import { createReplicaScrape, type EngineTarget } from "./replica-scrape.ts";
import { createReplicaSet, type QueueRules } from "./replica-set.ts";
import { createStoreWarnings } from "./store-warnings.ts";
import { correctionOf, makesResponse, measuredTurn } from "./turn-record.ts";
import { watchTurn } from "./turn-watch.ts";

export type ReplicasOptions = {
  readonly region: RegionId;
  readonly gateway: string;
  readonly engines: readonly EngineTarget[];
  /** By model, as the operator says. */
  readonly models: ReadonlyMap<string, ModelSettings>;
  readonly queue: QueueRules;
  readonly store: Store;
  readonly labels: Labels;
  /** Signs what was measured; null: none is configured. */
  readonly reportKey: () => Uint8Array | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** 0 to 1; spreads what is written again when the store is back. */
  readonly random: () => number;
};

export type WatchedReplicas = Replicas & {
  /** What `GET /replicas` answers. */
  readonly page: () => ReplicaPage;
};

export const createReplicas = (options: ReplicasOptions): WatchedReplicas => {
  const { region, gateway, clock, labels } = options;
  const owner = { region, gateway, boot: randomUUID() };
  const metrics = createReplicaMetrics(options.metrics);
  const warn = createStoreWarnings(options);
  const ledger = createLedger({ ...options, warn });
  const announcer = createAnnouncer({ ...options, warn });
  const set = createReplicaSet(options.queue);
  const scrape = createReplicaScrape(options.engines, clock, (places) => {
    set.learn(replicaFacts(places, options.models), clock.epochMs());
    metrics.tell(set.all(), clock.monotonicMs());
  });

  const send = (replica: Replica, turn: Turn): Choice => {
    const facts = replica.facts();
    const { conversation, promptTokens, outputTokens } = turn;
    const passage = replica.send({ conversation, promptTokens, outputTokens, atMs: clock.monotonicMs() });
    const follow = watchTurn({
      ...{ passage, clock, unread: metrics.unread },
      onResponse: (id) =>
        makesResponse(turn) ? ledger.keepResponse(labels.conversationIdOf("response", id), conversation) : null,
      onEnd: (ended) => {
        const { promisedTokens } = passage;
        const measured = measuredTurn({ region, replica: replica.id, facts, turn, ended, promisedTokens });
        if (measured !== null) {
          metrics.ended(measured, ended);
          announcer.tell({ turn: measured, endedAtMs: ended.atMs });
        }
        const correction = correctionOf({ region, replica: replica.id, facts, turn, ended });
        if (correction !== null) ledger.correct(correction);
      },
    });
    const headers = facts.rank === null ? [] : [["X-data-parallel-rank", facts.rank] as const];
    return { kind: "chosen", replica: replica.id, origin: facts.origin, headers, follow };
  };

  return {
    choose: (asked, not) => {
      const turn = { ...asked, promptTokens: Math.max(0, Math.round(asked.promptTokens)) };
      const picked = set.pick(turn, not, clock.monotonicMs());
      metrics.chose(picked.kind === "picked" ? picked.chosen.why : picked.reason);
      return picked.kind === "picked" ? send(picked.replica, turn) : picked;
    },
    answering: () => new Set(set.all().flatMap((one) => (one.facts().isDown ? [] : [one.facts().origin]))).size,
    page: () => replicaPage(owner, set.all(), clock.monotonicMs()),
    start: scrape.start,
    stop: async () => {
      await scrape.stop();
      await Promise.all([announcer.stop(), ledger.stop()]);
    },
  };
};
