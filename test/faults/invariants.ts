/** What must hold of every history, whatever broke: each returns what violates it, in words. */
import { type Down, type Gone, isAnswer, isWithin, type Order, outsideOf, type Span, type Told } from "./history.ts";

/**
 * Of the test, not of the product: the processes share two cores with whatever else runs there, and what a client measures
 * holds the waiting of both sides. Nothing that is broken heals by itself within it.
 */
export const SLACK_MS = 2_000;
/** A client waits so long; resolvers and SDKs wait longer. */
export const PATIENCE_MS = 5_000;

const shown = (told: Told): string =>
  `${told.gtm} ${told.wire} ${told.conversation ?? "nobody's"} → ${told.region ?? told.outcome}${told.verdict === null ? "" : ` (${told.verdict})`}`;

/** Every query is answered: a region is named, in time. Excepted is what was under way to a GTM that was not there. */
export const unanswered = (history: readonly Told[], gone: readonly Gone[]): readonly string[] =>
  history
    .filter((told) => !isAnswer(told) || told.region === null)
    .filter(
      ({ gtm, askedAtMs, atMs }) =>
        !gone.some((one) => one.gtm === gtm && outsideOf([one], askedAtMs, atMs) < atMs - askedAtMs),
    )
    .map((told) => `${shown(told)}: ${told.outcome} after ${Math.round(told.atMs - told.askedAtMs)} ms`);

/** @param boundMs fall × interval + time-out + 0.5 s: from then on nothing is sent to a region that is down */
export const onDownRegion = (history: readonly Told[], downs: readonly Down[], boundMs: number): readonly string[] =>
  history.flatMap((told) => {
    const down = downs.find((one) => one.region === told.region && isWithin(one, told.atMs));
    // Decided after it was asked: what was under way for long was decided late.
    const sinceMs = told.askedAtMs - (down?.fromMs ?? Number.POSITIVE_INFINITY);
    return sinceMs > boundMs ? [`${shown(told)}: down for ${Math.round(sinceMs)} ms`] : [];
  });

export type Split = {
  readonly conversation: string;
  /** Who says what. */
  readonly homes: string;
  /** For how long neither GTM followed the other, at a time when both could know. */
  readonly lastedMs: number;
};

/**
 * Two GTMs that name different homes, each keeping to its own. Over when they agree, or one of them goes elsewhere.
 *
 * @param excused when GTMs could not know of each other: the store was away for one of them, or lost what it had
 */
export const splitsIn = (history: readonly Told[], excused: readonly Span[]): readonly Split[] =>
  [...byConversation(history)].flatMap(([conversation, told]) => splitsOf(conversation, told, excused));

const splitsOf = (conversation: string, told: readonly Told[], excused: readonly Span[]): readonly Split[] => {
  const said = new Map<string, string | null>();
  const splits: Split[] = [];
  let sinceMs: number | null = null;
  for (const { gtm, region, askedAtMs, atMs } of told) {
    const before = said.get(gtm);
    said.set(gtm, region);
    if (new Set(said.values()).size === 1) sinceMs = null;
    else if (sinceMs === null || before !== region) sinceMs = atMs;
    else {
      const homes = [...said].map(([who, home]) => `${who} says ${home}`).join(", ");
      splits.push({ conversation, homes, lastedMs: outsideOf(excused, sinceMs, Math.max(sinceMs, askedAtMs)) });
    }
  }
  return splits;
};

/** No two homes for longer than the window. @param windowMs the stated 2 s */
export const twoHomes = (history: readonly Told[], excused: readonly Span[], windowMs: number): readonly string[] =>
  splitsIn(history, excused)
    .filter(({ lastedMs }) => lastedMs > windowMs)
    .map(({ conversation, homes, lastedMs }) => `${conversation}: ${homes} for ${Math.round(lastedMs)} ms`);

/**
 * A conversation leaves a home that serves: neither down nor drained, at a time when nothing excuses it.
 *
 * @param excused spans in which homes may be settled anew, their aftermath included
 * @param windowMs the stated 2 s: so long after its first turn, and after it had to leave a home, two GTMs that both placed
 * it may differ
 */
export const restless = (
  history: readonly Told[],
  excused: readonly Span[],
  unfit: readonly Down[],
  windowMs: number,
): readonly string[] =>
  [...byConversation(history).values()].flatMap((told) => {
    const firstAtMs = told[0]?.atMs ?? 0;
    let settledAtMs = firstAtMs + windowMs;
    return told.flatMap((one, at) => {
      const home = told[at - 1]?.region ?? one.region;
      if (home === one.region) return [];
      const hadToLeave = unfit.some(({ region, ...span }) => region === home && isWithin(span, one.atMs));
      if (hadToLeave) settledAtMs = one.atMs + windowMs;
      if (one.atMs <= settledAtMs || excused.some((span) => isWithin(span, one.atMs))) return [];
      return [
        `${shown(one)}: left ${home}, which serves, ${Math.round(one.atMs - firstAtMs)} ms after its first answer`,
      ];
    });
  });

/** At the end of the history each conversation has one home on both GTMs. @param sinceMs when all had settled */
export const unsettled = (history: readonly Told[], sinceMs: number): readonly string[] =>
  [...byConversation(history.filter(({ askedAtMs }) => askedAtMs >= sinceMs))].flatMap(([name, told]) => {
    const homes = new Set(told.map(({ region }) => region));
    const gtms = new Set(told.map(({ gtm }) => gtm));
    if (gtms.size < 2) return [`${name}: only ${[...gtms].join()} was asked`];
    return homes.size > 1 ? [`${name}: ${[...homes].join(" and ")}`] : [];
  });

/**
 * Orders that were taken stand: in what each GTM says of the region at the end. What was refused may have been done all
 * the same, where only the answer was lost.
 *
 * @param standing for each GTM, the admin state of each region
 */
export const lostOrders = (
  orders: readonly Order[],
  standing: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly string[] =>
  [...new Set(orders.map(({ region }) => region))].flatMap((region) => {
    const ofRegion = orders.filter((order) => order.region === region);
    const lastTaken = ofRegion.findLastIndex(({ status }) => status === 200);
    const possible = new Set(ofRegion.slice(Math.max(0, lastTaken)).map(({ admin }) => admin as string));
    if (lastTaken === -1) possible.add("active");
    return [...standing]
      .filter(([, regions]) => !possible.has(regions.get(region) ?? "unknown"))
      .map(([gtm, regions]) => `${region} is ${regions.get(region)} on ${gtm}, not ${[...possible].join(" or ")}`);
  });

/**
 * An order is kept by what is answered, too.
 *
 * @param excused when orders could not be heard of
 * @param withinMs orders reach all within a second
 */
export const againstOrders = (
  history: readonly Told[],
  orders: readonly Order[],
  excused: readonly Span[],
  withinMs: number,
): readonly string[] =>
  drainsOf(orders).flatMap(({ region, fromMs, toMs }) =>
    history
      .filter((told) => told.conversation !== null && told.region === region)
      .filter(({ askedAtMs, atMs }) => askedAtMs > fromMs && (toMs === null || atMs < toMs))
      .filter(({ askedAtMs }) => outsideOf(excused, fromMs, askedAtMs) > withinMs)
      .map((told) => `${shown(told)}: drained for ${Math.round(told.askedAtMs - fromMs)} ms`),
  );

/** While a region is ordered to be left by all, from the order's answer on; some leave as soon as it was asked. */
export const drainsOf = (orders: readonly Order[]): readonly (Down & { readonly askedAtMs: number })[] => {
  const taken = orders.filter(({ status }) => status === 200);
  return taken.flatMap(({ region, admin, askedAtMs, atMs }, at) => {
    if (admin !== "drain-all") return [];
    const end = taken.slice(at + 1).find((later) => later.region === region);
    return [{ region, askedAtMs, fromMs: atMs, toMs: end?.atMs ?? null }];
  });
};

/** @returns 0 to 1: of the conversations whose home served all the time, how many were never sent elsewhere; null: there were none */
export const keptShare = (history: readonly Told[], sinceMs: number, unfit: readonly Down[]): number | null => {
  let [kept, all] = [0, 0];
  for (const told of byConversation(history).values()) {
    const home = told.findLast(({ atMs }) => atMs < sinceMs)?.region;
    if (home === undefined || unfit.some(({ region }) => region === home)) continue;
    all += 1;
    if (told.every(({ atMs, region }) => atMs < sinceMs || region === home)) kept += 1;
  }
  return all === 0 ? null : kept / all;
};

/** Only what was answered, in the order of the answers. */
const byConversation = (history: readonly Told[]): ReadonlyMap<string, readonly Told[]> => {
  const all = new Map<string, Told[]>();
  const answers = history.filter((told) => isAnswer(told) && told.region !== null);
  for (const told of answers.sort((a, b) => a.atMs - b.atMs)) {
    if (told.conversation === null) continue;
    const known = all.get(told.conversation);
    if (known === undefined) all.set(told.conversation, [told]);
    else known.push(told);
  }
  return all;
};
