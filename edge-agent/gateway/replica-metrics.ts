/** The gateway's metrics about replicas and turns: what was chosen and why, what was held, how far off the GTM's estimate was. */
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Counter, Metrics } from "#shared/metrics.ts";
import type { Replica } from "./replica.ts";
import type { Ended } from "./turn-watch.ts";

export type ReplicaMetrics = {
  readonly unread: Counter;
  readonly chose: (why: string) => void;
  readonly ended: (turn: MeasuredTurn, ended: Ended) => void;
  readonly tell: (replicas: readonly Replica[], nowMs: number) => void;
};

/** A promise is kept where so much of it was cached. */
const KEPT_FRACTION = 0.8;

export const createReplicaMetrics = (metrics: Metrics): ReplicaMetrics => {
  const unread = metrics.counter({
    name: "gtm_gateway_replies_unread_total",
    help: "Replies that passed without being read: compressed, or of a type that says no usage.",
    labels: ["reason"],
  });
  for (const reason of ["encoded", "other"]) unread.inc({ reason }, 0);
  const choices = metrics.counter({
    name: "gtm_gateway_choices_total",
    help: "Turns by why their replica took them (holds-context, least-loaded), or why none did.",
    labels: ["why"],
  });
  const turns = metrics.counter({
    name: "gtm_gateway_turns_total",
    help: "Turns of a model that ended here, by how.",
    labels: ["outcome"],
  });
  const promises = metrics.counter({
    name: "gtm_gateway_promises_total",
    help: "Turns of conversations held here whose reply said what was cached: kept, where that was at least 0.8 of it, or broken.",
    labels: ["outcome"],
  });
  const firstToken = metrics.histogram({
    name: "gtm_gateway_ttft_seconds",
    help: "Request sent to the engine to the first octet of content.",
  });
  const backlog = metrics.gauge({
    name: "gtm_gateway_backlog_seconds",
    help: "Until a turn that comes now would start its prefill, as last looked at.",
    labels: ["replica"],
  });
  const held = metrics.gauge({
    name: "gtm_gateway_held_tokens",
    help: "Tokens of conversations that a replica's cache holds, as far as their turns tell.",
    labels: ["replica"],
  });
  const flying = metrics.gauge({
    name: "gtm_gateway_in_flight",
    help: "Turns that a replica has and has not ended, as last looked at.",
    labels: ["replica"],
  });
  let told: ReadonlySet<string> = new Set();

  return {
    unread,
    chose: (why) => choices.inc({ why }),
    ended: ({ outcome, predictedCachedTokens: promised, cachedTokens }, { passed }) => {
      turns.inc({ outcome });
      if (passed.ttftMs !== null) firstToken.observe(passed.ttftMs / 1_000);
      if (!promised || cachedTokens === null) return;
      promises.inc({ outcome: cachedTokens >= KEPT_FRACTION * promised ? "kept" : "broken" });
    },
    tell: (replicas, nowMs) => {
      const now = new Set<string>(replicas.map(({ id }) => id));
      for (const replica of [...told].filter((id) => !now.has(id)))
        for (const gauge of [backlog, held, flying]) gauge.remove({ replica });
      told = now;
      for (const one of replicas) {
        backlog.set(one.backlogMs(nowMs) / 1_000, { replica: one.id });
        held.set(one.heldTokens(), { replica: one.id });
        flying.set(one.inFlight(), { replica: one.id });
      }
    },
  };
};
