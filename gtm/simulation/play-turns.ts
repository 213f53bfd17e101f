/** A turn's way: to whoever says where, to the region, through its engines, and back; or to another region where that one died. */
import type { Agenda } from "./clock.ts";
import { createNearestRegion, tripsFor } from "./network.ts";
import { type Asker, rememberLast } from "./play-clients.ts";
import type { Lead } from "./play-leading.ts";
import { type Asking, firstTokenRecordOf, type Sent } from "./play-record.ts";
import type { PlayedRegion } from "./play-region.ts";
import type { PlayedTotals, Tally } from "./play-totals.ts";
import type { Asked, Contender } from "./rival.ts";
import type { Scenario } from "./scenario.ts";
import type { RegionEvent } from "./serving/serving-region.ts";
import type { PlannedTurn } from "./traffic.ts";
import type { LostTurn, TurnRecord } from "./turn-record.ts";

type TurnsOptions = {
  readonly agenda: Agenda;
  readonly scenario: Scenario;
  readonly regions: readonly PlayedRegion[];
  readonly contender: Contender;
  readonly lead: Lead;
  readonly tally: Tally;
  readonly over: (asker: Asker, atMs: number) => void;
  readonly onTurn: (record: TurnRecord) => void;
  readonly onLost: (lost: LostTurn) => void;
};

export type Turns = {
  readonly ask: (asker: Asker, planned: PlannedTurn) => void;
  /** A region dies with all that is under way in it. */
  readonly fail: (region: number) => void;
  readonly counts: () => Pick<PlayedTotals, "asked" | "served" | "lost" | "unfinished">;
};

/** As OpenAI's SDKs wait between attempts: half a second, doubling, eight at most. Clients here are more patient than their two retries. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;
const MOST_ATTEMPTS = 8;

export const createTurns = (options: TurnsOptions): Turns => {
  const { agenda, scenario, regions, contender, lead, tally } = options;
  const nearest = createNearestRegion(scenario);
  const sent = new Map<number, Sent>();
  let requests = 0;
  const counts = { asked: 0, served: 0, lost: 0 };

  const attempt = (asking: Asking): void => {
    const { asker, planned, previous } = asking;
    const { conversation, parent, turn, promptTokens, outputTokens, blocks } = planned;
    const { city, lastMileMs } = asker.client;
    const asked: Asked = {
      client: asker.number,
      conversation,
      parent,
      turn,
      city,
      lastMileMs,
      promptTokens,
      outputTokens,
      blocks,
      previous,
      idleMs: idleOf(asking, agenda.nowMs()),
    };
    lead(asked, (choice, leavesAtMs) => {
      if (choice === null) retry(asking, "unserved", leavesAtMs);
      else
        travel(
          { asking, asked, choice, rttMs: lastMileMs + scenario.rttMs(city, choice.region), record: null },
          leavesAtMs,
        );
    });
  };
  const travel = (turn: Sent, leavesAtMs: number): void => {
    const { asking, choice, rttMs } = turn;
    const { usedAtMs } = asking.asker;
    const idleMs = leavesAtMs - (usedAtMs.get(choice.region) ?? Number.NEGATIVE_INFINITY);
    usedAtMs.set(choice.region, leavesAtMs);
    rememberLast(asking.asker, asking.planned.conversation, { region: choice.region, endedAtMs: null });
    agenda.at(leavesAtMs + (tripsFor(true, idleMs) - 0.5) * rttMs, () => arrive(turn));
  };
  const arrive = (turn: Sent): void => {
    const { asking, choice, rttMs } = turn;
    const region = regions[choice.region];
    const { promptTokens, outputTokens, blocks } = asking.planned;
    if (region === undefined) throw new RangeError(`there is no region ${choice.region}`);
    const nowMs = agenda.nowMs();
    if (region.phase() === "down") {
      failed(turn);
      return;
    }
    requests += 1;
    const request = { id: requests, promptTokens, outputTokens, finishReason: "stop" as const, blocks };
    if (region.replicas[0]?.fits(request) !== true) {
      lose(asking, "too-long", nowMs + rttMs / 2);
      return;
    }
    sent.set(requests, turn);
    region.submit(request, nowMs, null);
    wake(choice.region);
  };
  const happened = (region: number, { replica, event }: RegionEvent): void => {
    const turn = sent.get(event.request.id);
    if (turn === undefined) return;
    if (event.kind === "first-token") {
      turn.record = firstTokenRecordOf(turn, replica, event, nearest(turn.asked.city));
      tally.firstToken(region, event);
      contender.onFirstToken(turn.asked, turn.record);
    }
    if (event.kind !== "finished" || turn.record === null) return;
    sent.delete(event.request.id);
    counts.served += 1;
    const lastTokenAtMs = event.atMs + turn.rttMs / 2;
    const record = { ...turn.record, lastTokenAtMs };
    settle(turn.asking, region, lastTokenAtMs);
    contender.onFinished(turn.asked, record);
    options.onTurn(record);
    options.over(turn.asking.asker, lastTokenAtMs);
  };
  /** Its client notices at once, by a reset. */
  const failed = (turn: Sent): void => {
    const { asking, asked, choice, rttMs } = turn;
    const noticedAtMs = agenda.nowMs() + rttMs / 2;
    asking.asker.usedAtMs.delete(choice.region);
    contender.onFailed(asked, choice.region);
    retry(asking, "gave-up", noticedAtMs);
  };
  const retry = (asking: Asking, reason: LostTurn["reason"], fromMs: number): void => {
    asking.failedAttempts += 1;
    if (asking.failedAttempts >= MOST_ATTEMPTS) {
      lose(asking, reason, fromMs);
      return;
    }
    const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (asking.failedAttempts - 1));
    agenda.at(fromMs + waitMs, () => attempt(asking));
  };
  const lose = (asking: Asking, reason: LostTurn["reason"], atMs: number): void => {
    counts.lost += 1;
    const { asker, planned, askedAtMs } = asking;
    options.onLost({ conversation: planned.conversation, askedAtMs, reason });
    agenda.at(atMs, () => options.over(asker, atMs));
  };
  const wake = createWaker(agenda, (region) => {
    const serving = regions[region];
    for (const event of serving?.advanceTo(agenda.nowMs()) ?? []) happened(region, event);
    return serving?.nextEventAtMs() ?? Number.POSITIVE_INFINITY;
  });

  return {
    ask: (asker, planned) => {
      counts.asked += 1;
      const previous = asker.last.get(planned.conversation)?.region ?? null;
      attempt({ asker, planned, askedAtMs: agenda.nowMs(), previous, failedAttempts: 0 });
    },
    fail: (region) => {
      wake(region);
      regions[region]?.fail(agenda.nowMs());
      for (const [id, turn] of sent) {
        if (turn.choice.region !== region) continue;
        sent.delete(id);
        failed(turn);
      }
    },
    counts: () => ({ ...counts, unfinished: counts.asked - counts.served - counts.lost }),
  };
};

/** Since the answer before; what is still being answered keeps its connections open. */
const idleOf = ({ asker, planned }: Asking, nowMs: number): number => {
  const last = asker.last.get(planned.conversation);
  if (last === undefined) return Number.POSITIVE_INFINITY;
  return last.endedAtMs === null ? 0 : nowMs - last.endedAtMs;
};

const settle = ({ asker, planned }: Asking, region: number, endedAtMs: number): void => {
  asker.usedAtMs.set(region, endedAtMs);
  const last = asker.last.get(planned.conversation);
  if (last?.region === region) rememberLast(asker, planned.conversation, { region, endedAtMs });
};

/** @param advance lets a region catch up with now; @returns when it wants to be woken next */
const createWaker = (agenda: Agenda, advance: (region: number) => number): ((region: number) => void) => {
  /** By region. */
  const dueAtMs: number[] = [];
  const wake = (region: number): void => {
    const nextMs = advance(region);
    const dueMs = dueAtMs[region] ?? Number.POSITIVE_INFINITY;
    if (nextMs === Number.POSITIVE_INFINITY || dueMs <= nextMs) return;
    dueAtMs[region] = nextMs;
    agenda.at(Math.max(nextMs, agenda.nowMs()), () => {
      // One that was due earlier has taken its place.
      if (dueAtMs[region] !== nextMs) return;
      dueAtMs[region] = Number.POSITIVE_INFINITY;
      wake(region);
    });
  };
  return wake;
};
