/** How a client learns where to go: a front door answers 307, or resolvers keep what names were answered with. */
import type { Agenda } from "./clock.ts";
import { createNearestRegion, tripsFor } from "./network.ts";
import type { Asked, Choice, Contender } from "./rival.ts";
import type { Scenario } from "./scenario.ts";

/** @param go called when it is known; the client leaves for the region at `leavesAtMs`, which may be later */
export type Lead = (asked: Asked, go: (choice: Choice | null, leavesAtMs: number) => void) => void;

/** What resolvers keep an answer for where a policy does not say. */
export const DEFAULT_TTL_MS = 20_000;

export const createLead = (agenda: Agenda, scenario: Scenario, contender: Contender): Lead =>
  scenario.leading.kind === "redirect"
    ? createRedirects(agenda, scenario, contender)
    : createResolvers(agenda, scenario.leading.resolversPerCity, contender);

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
const createResolvers = (agenda: Agenda, resolversPerCity: number, contender: Contender): Lead => {
  const kept = new Map<string, Kept>();
  const answer = (asked: Asked): Kept => {
    const nowMs = agenda.nowMs();
    if (contender.resolve === undefined) {
      const choice = contender.choose(asked);
      return { choice: blind(choice), untilMs: nowMs + DEFAULT_TTL_MS };
    }
    const resolved = contender.resolve(asked.city);
    // A failure is not kept.
    if (resolved === null) return { choice: null, untilMs: nowMs };
    const choice = { region: resolved.region, prediction: null, verdict: null };
    return { choice, untilMs: nowMs + resolved.ttlMs };
  };
  return (asked, go) => {
    const resolver = `${asked.city.name}/${asked.client % resolversPerCity}`;
    const before = kept.get(resolver);
    const now = before === undefined || before.untilMs <= agenda.nowMs() ? answer(asked) : before;
    kept.set(resolver, now);
    go(now.choice, agenda.nowMs());
  };
};

/** What was said of the turn that asked says nothing of the turns that follow. */
const blind = (choice: Choice | null): Choice | null =>
  choice === null ? null : { region: choice.region, prediction: null, verdict: null };
