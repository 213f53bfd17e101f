/** Plays a workload against one policy: clients ask, wait, read, think and ask again, in virtual time. */
import type { RegionSite } from "#gtm/domain/region.ts";
import { type Agenda, createAgenda } from "./clock.ts";
import { routeRttMs, tripsFor } from "./network.ts";
import type { Rival, Stage } from "./rival.ts";
import type { EngineOptions } from "./serving/engine-options.ts";
import type { ServingEvent } from "./serving/request.ts";
import { createServingRegion, type RegionEvent } from "./serving/serving-region.ts";
import type { PlannedTurn, User } from "./workload.ts";

export type Play = {
  readonly sites: readonly RegionSite[];
  readonly replicasPerRegion: number;
  readonly engine: EngineOptions;
  readonly users: readonly User[];
  readonly seed: number;
  readonly untilMs: number;
};

/** One turn as its client saw it. */
export type TurnRecord = {
  readonly conversation: number;
  readonly turn: number;
  /** Whether it went elsewhere than the turn before. */
  readonly hasMoved: boolean;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly ttftMs: number;
  /** When the first token reached the client. */
  readonly answeredAtMs: number;
  readonly prefillFromMs: number;
  readonly prefillToMs: number;
};

type Sent = {
  readonly user: User;
  readonly planned: PlannedTurn;
  readonly region: number;
  readonly hasMoved: boolean;
  readonly sentAtMs: number;
  readonly rttMs: number;
};
/** Where a user's conversation last was, and when it was answered. */
type Last = { readonly conversation: number; readonly region: number; readonly endedAtMs: number };

export const play = (options: Play, createRival: (stage: Stage) => Rival): readonly TurnRecord[] => {
  const { sites, engine } = options;
  const agenda = createAgenda();
  const regions = sites.map((_, index) =>
    createServingRegion({
      replicas: options.replicasPerRegion,
      engine,
      routing: "affinity",
      seed: options.seed + index,
      startedAtMs: 0,
    }),
  );
  const rival = createRival({ agenda, sites, regions });
  const records: TurnRecord[] = [];
  const sent = new Map<number, Sent>();
  const last = new Map<User, Last>();
  let requests = 0;

  const ask = (user: User): void => {
    const planned = user.nextTurn();
    const { conversation, promptTokens } = planned;
    const before = last.get(user);
    const previous = before?.conversation === conversation.number ? before.region : null;
    const region = rival.choose({ conversation: conversation.number, city: user.city, promptTokens, previous });
    const sentAtMs = agenda.nowMs();
    const site = sites[region];
    if (site?.location == null) throw new RangeError(`there is no region ${region} on the map`);
    const rttMs = user.lastMileMs + routeRttMs(user.city, site.id, site.location);
    const idleMs = before === undefined ? Number.POSITIVE_INFINITY : sentAtMs - before.endedAtMs;
    const arrivesAtMs = sentAtMs + (tripsFor(before?.region === region, idleMs) - 0.5) * rttMs;
    const hasMoved = previous !== null && previous !== region;
    agenda.at(arrivesAtMs, () => arrive({ user, planned, region, hasMoved, sentAtMs, rttMs }));
  };
  const arrive = (turn: Sent): void => {
    requests += 1;
    sent.set(requests, turn);
    const { promptTokens, outputTokens, conversation } = turn.planned;
    const request = {
      id: requests,
      promptTokens,
      outputTokens,
      finishReason: "stop" as const,
      blocks: conversation.blocks,
    };
    regions[turn.region]?.submit(request, agenda.nowMs(), null);
    wake(turn.region);
  };
  const happened = (region: number, { replica, event }: RegionEvent): void => {
    const turn = sent.get(event.request.id);
    if (turn === undefined) return;
    if (event.kind === "first-token") records.push(recordOf(turn, event));
    if (event.kind !== "finished") return;
    sent.delete(event.request.id);
    const { promptTokens, outputTokens, conversation, thinkMs } = turn.planned;
    rival.onFinished({ conversation: conversation.number, region, replica, promptTokens, outputTokens });
    const endedAtMs = event.atMs + turn.rttMs / 2;
    last.set(turn.user, { conversation: conversation.number, region, endedAtMs });
    agenda.at(endedAtMs + thinkMs, () => ask(turn.user));
  };
  const wake = createWaker(agenda, (region) => {
    const serving = regions[region];
    for (const event of serving?.advanceTo(agenda.nowMs()) ?? []) happened(region, event);
    return serving?.nextEventAtMs() ?? Number.POSITIVE_INFINITY;
  });

  for (const user of options.users) agenda.at(user.startsAtMs, () => ask(user));
  agenda.runUntil(options.untilMs);
  return records;
};

const recordOf = (turn: Sent, event: Extract<ServingEvent, { kind: "first-token" }>): TurnRecord => {
  const answeredAtMs = event.atMs + turn.rttMs / 2;
  return {
    conversation: turn.planned.conversation.number,
    turn: turn.planned.turn,
    hasMoved: turn.hasMoved,
    promptTokens: turn.planned.promptTokens,
    cachedTokens: event.cachedTokens,
    ttftMs: answeredAtMs - turn.sentAtMs,
    answeredAtMs,
    prefillFromMs: event.startedAtMs,
    prefillToMs: event.atMs,
  };
};

/** @param advance lets a region catch up with now; @returns when it wants to be woken next */
const createWaker = (agenda: Agenda, advance: (region: number) => number): ((region: number) => void) => {
  const dueAtMs = new Map<number, number>();
  const wake = (region: number): void => {
    const nextMs = advance(region);
    if (nextMs === Number.POSITIVE_INFINITY || (dueAtMs.get(region) ?? Number.POSITIVE_INFINITY) <= nextMs) return;
    dueAtMs.set(region, nextMs);
    agenda.at(Math.max(nextMs, agenda.nowMs()), () => {
      if (dueAtMs.get(region) === nextMs) dueAtMs.delete(region);
      wake(region);
    });
  };
  return wake;
};
