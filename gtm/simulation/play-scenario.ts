/** Plays a scenario for one policy under comparison, in virtual time; every turn's record is handed out as it ends, and none is kept. */
import { createAgenda } from "./clock.ts";
import { createClients } from "./play-clients.ts";
import { createPlayedKnown } from "./play-known.ts";
import { createLead } from "./play-leading.ts";
import { createPlayedRegion } from "./play-region.ts";
import { createTally, type PlayedTotals } from "./play-totals.ts";
import { createTurns } from "./play-turns.ts";
import type { CreateContender } from "./rival.ts";
import type { FleetRegion, Happening, Scenario } from "./scenario.ts";
import type { Traffic } from "./traffic.ts";
import type { LostTurn, TurnRecord } from "./turn-record.ts";

export type PlayOptions = {
  readonly seed: number;
  /** Of the whole play, in the order of their ends; whether a turn counts, its `askedAtMs` says. */
  readonly onTurn: (record: TurnRecord) => void;
  readonly onLost: (lost: LostTurn) => void;
  /** Each ten seconds of virtual time. */
  readonly onProgress?: (virtualMs: number, events: number) => void;
};

const PROGRESS_EVERY_MS = 10_000;
/** What was asked before the end is played to its own end, or the slow ones would not count; but not for ever. */
const LONGEST_TAIL_MS = 600_000;

/** Same scenario, policy and seed: same records in the same order. */
export const playScenario = (
  given: Scenario,
  createContender: CreateContender,
  { seed, onTurn, onLost, onProgress = () => undefined }: PlayOptions,
): PlayedTotals => {
  const traffic = given.traffic(seed);
  const scenario = { ...given, fleet: given.fleet.map((one) => agreeing(one, given, traffic)) };
  const untilMs = scenario.warmUpMs + scenario.measuredMs;
  const agenda = createAgenda();
  const regions = scenario.fleet.map((fleet, index) =>
    createPlayedRegion(fleet, scenario.routing, seed * 1_009 + index),
  );
  const known = createPlayedKnown(agenda, scenario, regions);
  const contender = createContender({ agenda, scenario, known, seed, regions });
  const tally = createTally(scenario.fleet, { fromMs: scenario.warmUpMs, toMs: untilMs });
  const turns = createTurns({
    ...{ agenda, scenario, regions, contender, tally, onTurn, onLost },
    lead: createLead(agenda, scenario, contender),
    over: (asker, atMs) => clients.over(asker, atMs),
  });
  const clients = createClients(agenda, traffic, untilMs, turns.ask);

  const befall = (happening: Happening): void => {
    known.befall(happening);
    const region = regions[happening.region];
    if (happening.kind === "fails") turns.fail(happening.region);
    if (happening.kind === "returns") region?.restart(agenda.nowMs());
    if (happening.kind === "loads") region?.load(agenda.nowMs());
  };
  for (const happening of scenario.happenings) agenda.at(happening.atMs, () => befall(happening));
  clients.start();

  let virtualMs = 0;
  while (virtualMs < untilMs || (turns.counts().unfinished > 0 && virtualMs < untilMs + LONGEST_TAIL_MS)) {
    virtualMs = virtualMs < untilMs ? Math.min(untilMs, virtualMs + PROGRESS_EVERY_MS) : virtualMs + PROGRESS_EVERY_MS;
    agenda.runUntil(virtualMs);
    onProgress(virtualMs, agenda.events());
  }
  return { events: agenda.events(), virtualMs, ...turns.counts(), regions: tally.totals() };
};

/**
 * Engines keep blocks of the size that the traffic's hashes stand for, and sites say of themselves what the scenario says. A
 * gateway that does not choose its replicas is none: it only measures.
 */
const agreeing = (fleet: FleetRegion, { reporting, routing }: Scenario, { blockTokens }: Traffic): FleetRegion => {
  const hasAffinity = routing === "affinity";
  const hasGateway = hasAffinity && reporting.eyes === "gateway";
  return { ...fleet, site: { ...fleet.site, hasGateway, hasAffinity }, engine: { ...fleet.engine, blockTokens } };
};
