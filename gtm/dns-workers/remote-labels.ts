/** Labels are looked up by the main thread, for all threads alike; where it takes too long, by what the label itself says. */
import type { FindLabel } from "#gtm/wire/dns/label-finder.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { LabelAsk, LabelReply } from "./messages.ts";

export type RemoteLabels = {
  readonly find: FindLabel;
  readonly hear: (replies: readonly LabelReply[]) => void;
};

export type RemoteLabelOptions = {
  readonly ask: (asked: readonly LabelAsk[]) => void;
  /** By the label's own token and the world, without the ledger. */
  readonly findHere: FindLabel;
  /** How long the main thread may take. */
  readonly withinMs: number;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly metrics: Metrics;
  readonly log: Logger;
};

type Why = "late" | "overload";
const TELL_EVERY_MS = 10_000;

export const createRemoteLabels = (options: RemoteLabelOptions): RemoteLabels => {
  const { ask, findHere, withinMs, clock, metrics, log } = options;
  const waiting = new Map<number, (reply: LabelReply | Why) => void>();
  let asking: LabelAsk[] = [];
  let asked = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const alone = metrics.counter({
    name: "gtm_dns_labels_alone_total",
    help: "Labels that a thread answered by what the label says, because the main thread was late or had too much to do.",
    labels: ["reason"],
  });

  const send = (): void => {
    ask(asking);
    asking = [];
  };
  const replyTo = async (label: string, clientSubnet: string): Promise<LabelReply | Why> => {
    const { promise, resolve } = Promise.withResolvers<LabelReply | Why>();
    asked += 1;
    const number = asked;
    waiting.set(number, resolve);
    const late = setTimeout(() => resolve("late"), withinMs);
    // All that one turn of the event loop brings go in one message.
    if (asking.length === 0) setImmediate(send);
    asking.push({ ask: number, label, clientSubnet });
    const reply = await promise;
    clearTimeout(late);
    waiting.delete(number);
    return reply;
  };
  const tell = (reason: Why): void => {
    alone.inc({ reason });
    if (clock.monotonicMs() - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = clock.monotonicMs();
    log.warn("dns.label-alone", { reason, withinMs });
  };
  return {
    find: async (label, clientSubnet) => {
      const reply = await replyTo(label, clientSubnet);
      if (typeof reply !== "string" && reply.found !== null) return reply.found;
      tell(typeof reply === "string" ? reply : "overload");
      return findHere(label, clientSubnet);
    },
    hear: (replies) => {
      for (const reply of replies) waiting.get(reply.ask)?.(reply);
    },
  };
};
