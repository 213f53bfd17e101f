/** A trace as traffic: who asks it, from where, how often. */
import { greatCircleRttMs, type Location } from "#gtm/domain/topology.ts";
import type { City } from "../cities.ts";
import { createDice, type Dice, pickWeighted } from "../dice.ts";
import { LONGEST_PAUSE_MS, restOfPauseMs } from "../generator/generated-client.ts";
import { lastMileMs } from "../network.ts";
import type { Client, PlannedTurn, Traffic } from "../traffic.ts";
import { inOrder, startsOfCopy } from "./overlay.ts";
import type { RecordedClient, RecordedTrace } from "./recorded-trace.ts";
import { CONVERSATIONS_A_CLIENT, tell } from "./trace-client.ts";
import type { TraceOptions } from "./trace-options.ts";
import { cutAt, partOf } from "./trace-part.ts";

/** @throws {RangeError} when the block size is no multiple of the trace's, or nothing is left of the trace */
export const traceTraffic = (given: RecordedTrace, options: TraceOptions): Traffic => {
  const trace = cutAt(partOf(given, options.part), options.mostPromptTokens);
  const blockTokens = options.blockTokens ?? trace.blockTokens;
  if (blockTokens % trace.blockTokens !== 0) {
    throw new RangeError(`blocks of ${blockTokens} tokens are not made of the trace's, of ${trace.blockTokens}`);
  }
  if (trace.clients.length === 0) throw new RangeError("nothing is left of the trace");
  return {
    blockTokens,
    clients: () =>
      trace.loop === "open" ? openLoop(trace, options, blockTokens) : closedLoop(trace, options, blockTokens),
  };
};

const homeOf = (dice: Dice, { cities }: TraceOptions) => {
  const city =
    cities[
      pickWeighted(
        dice,
        cities.map(({ weight }) => weight),
      )
    ];
  if (city === undefined) throw new RangeError("clients live in no city");
  return { city, lastMileMs: lastMileMs(dice) };
};

/** A recorded place is known to half a degree; round trips are known from cities. */
const nearestCity = (cities: readonly City[], location: Location): City => {
  const rttMs = (city: City): number => greatCircleRttMs(city.location, location);
  return cities.reduce((nearest, city) => (rttMs(city) < rttMs(nearest) ? city : nearest));
};

function* openLoop(trace: RecordedTrace, options: TraceOptions, blockTokens: number): Generator<Client> {
  const { seed, isRepeated } = options;
  for (let round = 0; round === 0 || isRepeated; round++) {
    const copies = Array.from({ length: Math.ceil(options.copies) }, (_, copy) => startsOfCopy(trace, options, copy));
    for (const { copy, client: index, startsAtMs } of inOrder(copies)) {
      const client = trace.clients[index] as RecordedClient;
      const copyNumber = 1 + round * copies.length + copy;
      const number = (copyNumber * trace.clients.length + index) * CONVERSATIONS_A_CLIENT;
      const dice = createDice(Math.imul(seed, 1_000_003) + Math.imul(number, 0x9e3779b1));
      const home = homeOf(dice, options);
      const fromMs = round * trace.lengthMs + startsAtMs;
      const spread = turnSpreads(client, trace.timeStepMs, dice);
      const naming = { traceBlockTokens: trace.blockTokens, blockTokens, copy: copyNumber };
      const next = tell({ client, number, naming }, 0, ({ afterMs }, at) => ({
        kind: "at",
        ms: fromMs + afterMs + (spread[at] ?? 0),
      }));
      yield {
        ...home,
        ...(client.location === null ? {} : { city: nearestCity(options.cities, client.location) }),
        startsAtMs: fromMs,
        next,
      };
    }
  }
}

/** A time that was rounded down to a step was anywhere in it. */
const turnSpreads = ({ turns }: RecordedClient, stepMs: number, dice: Dice): readonly number[] =>
  stepMs === 0 ? [] : turns.map(() => dice() * stepMs);

/** Users have been asking for ever: they are somewhere in a session, and in a pause. */
const closedLoop = (trace: RecordedTrace, options: TraceOptions, blockTokens: number): Iterator<Client> => {
  const clients = Array.from({ length: options.users ?? trace.clients.length }, (_, user): Client => {
    const dice = createDice(Math.imul(options.seed, 1_000_003) + Math.imul(user, 0x9e3779b1));
    const home = homeOf(dice, options);
    if (options.users === null) return { ...home, startsAtMs: 0, next: sessionOf(trace, user, user, 0, blockTokens) };
    const pauses = () => pauseIn(trace, dice);
    return { ...home, startsAtMs: restOfPauseMs(dice, pauses), next: sessionsOf(trace, user, dice, blockTokens) };
  });
  return clients.sort((a, b) => a.startsAtMs - b.startsAtMs).values();
};

const pauseIn = ({ clients }: RecordedTrace, dice: Dice): number => {
  const { turns } = clients[Math.floor(dice() * clients.length)] as RecordedClient;
  return turns[Math.floor(dice() * turns.length)]?.afterMs ?? 0;
};

/** @param play counts the sessions that users play; each play has blocks of its own @param from the first turn that is told, from 0 */
const sessionOf = (trace: RecordedTrace, session: number, play: number, from: number, blockTokens: number) => {
  const client = trace.clients[session] as RecordedClient;
  const naming = { traceBlockTokens: trace.blockTokens, blockTokens, copy: 1 + play };
  return tell({ client, number: play * CONVERSATIONS_A_CLIENT, naming }, from, ({ afterMs }) => ({
    kind: "after",
    thinkMs: Math.min(afterMs, LONGEST_PAUSE_MS),
  }));
};

/** One session after another, the first from somewhere in its middle. */
const sessionsOf = (
  trace: RecordedTrace,
  user: number,
  dice: Dice,
  blockTokens: number,
): (() => PlannedTurn | null) => {
  let play = user * SESSIONS_A_USER;
  const begin = (from: (turns: number) => number) => {
    const session = Math.floor(dice() * trace.clients.length);
    const turns = trace.clients[session]?.turns.length ?? 0;
    play += 1;
    return sessionOf(trace, session, play, from(turns), blockTokens);
  };
  let next = begin((turns) => Math.floor(dice() * turns));
  let isFirst = true;
  return () => {
    const turn = next();
    if (turn === null) {
      next = begin(() => 0);
      return next();
    }
    if (!isFirst) return turn;
    isFirst = false;
    return { ...turn, asks: { kind: "after", thinkMs: 0 } };
  };
};

const SESSIONS_A_USER = 10_000;
