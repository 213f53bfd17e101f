/** A traffic's turns in the order in which they would be asked if every answer took the same time: for counting, not for playing. */
import { createAgenda } from "./clock.ts";
import { createClients } from "./play-clients.ts";
import type { Client, PlannedTurn, Traffic } from "./traffic.ts";

export type Visit = {
  /** Nobody asks from then on. */
  readonly untilMs: number;
  readonly mostTurns: number;
  /** From question to the end of its answer. */
  readonly answerMs: number;
};

/** Long enough for a count, short enough to be had at once; sixty days hold every trace. */
export const VISIT: Visit = { untilMs: 60 * 86_400_000, mostTurns: 100_000, answerMs: 10_000 };

export const visitTurns = (
  traffic: Traffic,
  { untilMs, mostTurns, answerMs }: Visit,
  visit: (turn: PlannedTurn, askedAtMs: number, client: Client) => void,
): void => {
  const agenda = createAgenda();
  let visited = 0;
  const clients = createClients(agenda, traffic, untilMs, (asker, turn) => {
    if (visited >= mostTurns) return;
    visited += 1;
    visit(turn, agenda.nowMs(), asker.client);
    const endsAtMs = agenda.nowMs() + answerMs;
    agenda.at(endsAtMs, () => clients.over(asker, endsAtMs));
  });
  clients.start();
  while (agenda.nowMs() < untilMs && visited < mostTurns) agenda.runUntil(agenda.nowMs() + STEP_MS);
};

const STEP_MS = 60_000;
