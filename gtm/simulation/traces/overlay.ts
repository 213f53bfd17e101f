/** Several copies of a trace at once, each begun at another moment of it: more of the same without compressing its time. */
import { createDice } from "../dice.ts";
import type { RecordedTrace } from "./recorded-trace.ts";
import type { TraceOptions } from "./trace-options.ts";

export type Start = { readonly client: number; readonly startsAtMs: number };

/**
 * A copy's clients in the order of their starts; what the shift pushes beyond the trace's end comes at its beginning.
 *
 * @param copy from 0; the last one of a broken number is thinned
 */
export function* startsOfCopy(
  { clients, lengthMs }: Pick<RecordedTrace, "clients" | "lengthMs">,
  { copies, seed }: Pick<TraceOptions, "copies" | "seed">,
  copy: number,
): Generator<Start> {
  const shiftMs = (lengthMs * copy) / Math.ceil(copies);
  const share = Math.min(1, copies - copy);
  const isKept = (client: number): boolean => share >= 1 || createDice(Math.imul(client, 0x85ebca6b) ^ seed)() < share;
  const firstAfter = clients.findIndex(({ startsAtMs }) => startsAtMs + shiftMs >= lengthMs);
  const wrapsAt = copy === 0 || firstAfter === -1 ? clients.length : firstAfter;
  for (let at = wrapsAt; at < clients.length; at++) {
    if (isKept(at)) yield { client: at, startsAtMs: (clients[at]?.startsAtMs ?? 0) + shiftMs - lengthMs };
  }
  for (let at = 0; at < wrapsAt; at++) {
    if (isKept(at)) yield { client: at, startsAtMs: (clients[at]?.startsAtMs ?? 0) + shiftMs };
  }
}

/** Of starts at the same moment the first copy's come first. */
export function* inOrder(copies: readonly Iterator<Start>[]): Generator<Start & { readonly copy: number }> {
  const waiting = copies.flatMap((later, copy) => waitingOf(later, copy));
  for (;;) {
    let first = waiting[0];
    if (first === undefined) return;
    for (const one of waiting) if (one.start.startsAtMs < first.start.startsAtMs) first = one;
    yield { ...first.start, copy: first.copy };
    waiting.splice(waiting.indexOf(first), 1, ...waitingOf(first.later, first.copy));
  }
}

const waitingOf = (later: Iterator<Start>, copy: number) => {
  const next = later.next();
  return next.done === true ? [] : [{ copy, later, start: next.value }];
};
