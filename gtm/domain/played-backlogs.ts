/** Backlogs of replicas that were read at different moments, brought forward to one. */
import type { ReplicaId } from "#shared/ids.ts";
import { compareSends } from "./sends.ts";
import { playForward, type Send } from "./serving.ts";

export type BacklogRead = {
  readonly replica: ReplicaId;
  readonly backlogMs: number;
  /** When its report was made, monotonic ms. */
  readonly readAtMs: number;
};

/**
 * Plays from report to report: a send counts until a report made after its arrival has come, and the report then says all.
 * Before its own report a replica is taken to have been busy with what the report still found, so that a send that went
 * there is not also booked on a replica whose report is older.
 *
 * @param reads in an order that does not depend on how the reports came: of equally loaded replicas the first is chosen
 * @param sends in any order; those arriving after `toMs` do not count
 * @returns one a read, 0 or more
 */
export const playedBacklogs = (
  reads: readonly BacklogRead[],
  sends: readonly Send[],
  toMs: number,
  patienceMs: number,
): readonly number[] => {
  const [first] = reads;
  if (first !== undefined && reads.every(({ readAtMs }) => readAtMs === first.readAtMs)) {
    return playedTogether(reads, sends, { fromMs: Math.min(first.readAtMs, toMs), toMs, patienceMs });
  }
  const replicas = reads.map(replicaOf);
  const inOrder = sends.toSorted(byArrival);
  const readsAtMs = reads.map(({ readAtMs }) => Math.min(readAtMs, toMs));
  const moments = [...new Set(readsAtMs)].sort((a, b) => a - b);
  const [firstMs = toMs] = moments;
  let backlogs = reads.map(({ backlogMs }, i) =>
    backlogMs > 0 ? backlogMs + ((readsAtMs[i] ?? firstMs) - firstMs) : 0,
  );
  for (const [at, fromMs] of moments.entries()) {
    const untilMs = moments[at + 1] ?? toMs;
    backlogs = backlogs.map((backlogMs, i) => (readsAtMs[i] === fromMs ? (reads[i]?.backlogMs ?? 0) : backlogMs));
    const between = inOrder.filter(({ arrivalAtMs }) => arrivalAtMs > fromMs && arrivalAtMs <= untilMs);
    backlogs = playForward(backlogs, replicas, between, { fromMs, toMs: untilMs, patienceMs });
  }
  return backlogs;
};

const byArrival = (a: Send, b: Send): number => a.arrivalAtMs - b.arrivalAtMs || compareSends(a, b);

/** All were read at once, as where one agent reports them: there is one span to play. */
const playedTogether = (
  reads: readonly BacklogRead[],
  sends: readonly Send[],
  span: { readonly fromMs: number; readonly toMs: number; readonly patienceMs: number },
): readonly number[] => {
  const between = sends.filter(({ arrivalAtMs }) => arrivalAtMs > span.fromMs && arrivalAtMs <= span.toMs);
  const backlogs = reads.map(({ backlogMs }) => backlogMs);
  return between.length === 0
    ? playForward(backlogs, NO_REPLICAS, between, span)
    : playForward(backlogs, reads.map(replicaOf), between.sort(byArrival), span);
};

const replicaOf = ({ replica }: BacklogRead): ReplicaId => replica;
/** Nothing is sent to any. */
const NO_REPLICAS: readonly ReplicaId[] = [];
