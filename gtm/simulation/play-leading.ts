/** How a client learns where to go: a front door answers 307, or resolvers keep what names were answered with. */
import type { City } from "./cities.ts";
import type { Agenda } from "./clock.ts";
import { createNearestRegion, tripsFor } from "./network.ts";
import type { Asked, Choice, Contender } from "./rival.ts";
import type { Leading, Scenario } from "./scenario.ts";

/** @param go called when it is known; the client leaves for the region at `leavesAtMs`, which may be later */
export type Lead = (asked: Asked, go: (choice: Choice | null, leavesAtMs: number) => void) => void;

/** What resolvers keep an answer for where a policy does not say. */
export const DEFAULT_TTL_MS = 20_000;
const LEAST_TTL_MS = 1_000;
const FIRST_ASKED_MS = 1_000;

export const createLead = (agenda: Agenda, scenario: Scenario, contender: Contender): Lead =>
  scenario.leading.kind === "redirect"
    ? createRedirects(agenda, scenario, contender)
    : createResolvers(agenda, scenario.leading, scenario.cities, contender);

const createRedirects = (agenda: Agenda, scenario: Scenario, contender: Contender): Lead => {
  const nearest = createNearestRegion(scenario);
  return (asked, go) => {
    const rttMs = asked.lastMileMs + scenario.rttMs(asked.city, nearest(asked.city));
    // Whoever has just had an answer still has its connection to the front as well.
    const trips = tripsFor(true, asked.idleMs);
    agenda.at(agenda.nowMs() + (trips - 0.5) * rttMs, () => go(contender.choose(asked), agenda.nowMs() + rttMs / 2));
  };
};

type Kept = { readonly choice: Choice | null; readonly untilMs: number };

/** What they have costs nothing; what they have to ask for is as near as the client's own net, and is not counted either. */
const createResolvers = (
  agenda: Agenda,
  { resolversPerCity, areBusy }: Extract<Leading, { kind: "dns" }>,
  cities: readonly City[],
  contender: Contender,
): Lead => {
  const kept = new Map<string, Kept>();
  const resolved = (city: City, resolve: NonNullable<Contender["resolve"]>): Kept => {
    const nowMs = agenda.nowMs();
    const answer = resolve(city);
    // A failure is not kept.
    if (answer === null) return { choice: null, untilMs: nowMs };
    return { choice: { region: answer.region, prediction: null, verdict: null }, untilMs: nowMs + answer.ttlMs };
  };
  const answered = (asked: Asked): Kept =>
    contender.resolve === undefined
      ? { choice: blind(contender.choose(asked)), untilMs: agenda.nowMs() + DEFAULT_TTL_MS }
      : resolved(asked.city, contender.resolve);
  const renew = (city: City, resolver: string, resolve: NonNullable<Contender["resolve"]>): void => {
    const now = resolved(city, resolve);
    kept.set(resolver, now);
    agenda.at(Math.max(now.untilMs, agenda.nowMs() + LEAST_TTL_MS), () => renew(city, resolver, resolve));
  };
  const { resolve } = contender;
  if (areBusy && resolve !== undefined) {
    for (const [at, city] of cities.entries()) {
      for (let number = 0; number < resolversPerCity; number++) {
        // Once every region has reported, and not all at once.
        const beginsMs = FIRST_ASKED_MS + ((at * 7 + number * 3) % 20) * 1_000;
        agenda.at(beginsMs, () => renew(city, `${city.name}/${number}`, resolve));
      }
    }
  }
  return (asked, go) => {
    const resolver = `${asked.city.name}/${asked.client % resolversPerCity}`;
    const before = kept.get(resolver);
    const now = before === undefined || before.untilMs <= agenda.nowMs() ? answered(asked) : before;
    kept.set(resolver, now);
    go(now.choice, agenda.nowMs());
  };
};

/** What was said of the turn that asked says nothing of the turns that follow. */
const blind = (choice: Choice | null): Choice | null =>
  choice === null ? null : { region: choice.region, prediction: null, verdict: null };
