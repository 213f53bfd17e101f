/** All invariants over one history, and the figures that are worth reading where they hold. */
import { type Down, type Gone, isAnswer, type Order, type Span, type Told } from "./history.ts";
import {
  againstOrders,
  drainsOf,
  keptShare,
  lostOrders,
  onDownRegion,
  restless,
  SLACK_MS,
  splitsIn,
  twoHomes,
  unanswered,
  unsettled,
} from "./invariants.ts";
import { DOWN_WITHIN_MS } from "./settings.ts";

export type Play = {
  readonly history: readonly Told[];
  readonly gone: readonly Gone[];
  readonly downs: readonly Down[];
  readonly orders: readonly Order[];
  /** When the GTMs could not know of each other, or the store had lost what it knew. */
  readonly excused: readonly Span[];
  /** When the fault began. */
  readonly brokenAtMs: number;
  /** From then on everything has settled. */
  readonly settledAtMs: number;
  /** By how much the test's own process was late at most: what it measures is no better than that. */
  readonly lateMs: number;
  /** For each GTM at the end, the admin state of each region. */
  readonly standing: ReadonlyMap<string, ReadonlyMap<string, string>>;
};

/** In which two GTMs may differ, once they can know of each other. */
export const WINDOW_MS = 2_000;
/** Orders reach all GTMs. */
const ORDERS_WITHIN_MS = 1_000;

/** @returns what does not hold, in words; nothing where all does */
export const violationsIn = (play: Play): readonly string[] => {
  const { history, downs, orders } = play;
  // A GTM that has just started looks up what it is asked for, and a look-up that is late is done without.
  const aftermath = [...play.excused, ...play.gone].map(({ fromMs, toMs }) => ({
    fromMs,
    toMs: toMs === null ? null : toMs + WINDOW_MS + SLACK_MS,
  }));
  return [
    ["a query was not answered", unanswered(history, play.gone)],
    ["a conversation was sent to a region that is down", onDownRegion(history, downs, DOWN_WITHIN_MS + SLACK_MS)],
    ["a conversation had two homes", twoHomes(history, play.excused, WINDOW_MS + SLACK_MS)],
    ["a conversation left a home that serves", restless(history, aftermath, unfitIn(play), WINDOW_MS + SLACK_MS)],
    ["a conversation has two homes at the end", unsettled(history, play.settledAtMs)],
    ["an order was lost", lostOrders(orders, play.standing)],
    ["an order was not kept", againstOrders(history, orders, play.excused, ORDERS_WITHIN_MS + SLACK_MS)],
  ].flatMap(([what, violations]) => violationsShown(String(what), violations as readonly string[]));
};

const MOST_SHOWN = 5;

const violationsShown = (what: string, violations: readonly string[]): readonly string[] => {
  const shown = violations.slice(0, MOST_SHOWN).map((one) => `${what}: ${one}`);
  const more = violations.length - shown.length;
  return more > 0 ? [...shown, `${what}: ${more} more`] : shown;
};

/** Regions that a conversation may leave: down, or drained, or so a moment ago, when it may not have been told yet. */
const unfitIn = ({ downs, orders }: Play): readonly Down[] =>
  [...downs, ...drainsOf(orders).map((drain) => ({ ...drain, fromMs: drain.askedAtMs }))].map((one) => ({
    ...one,
    toMs: one.toMs === null ? null : one.toMs + DOWN_WITHIN_MS + SLACK_MS,
  }));

/** One line a subject. */
export const figuresOf = (play: Play): readonly string[] => {
  const { history, downs, excused, brokenAtMs } = play;
  const lines = (["http", "dns"] as const).map((wire) => {
    const told = history.filter((one) => one.wire === wire);
    const tookMs = told.filter(isAnswer).map(({ askedAtMs, atMs }) => atMs - askedAtMs);
    const answers = `${tookMs.length} of ${told.length} answered`;
    return `${wire === "http" ? "turns" : "look-ups"}: ${answers}, p50 ${at(tookMs, 0.5)} ms, p99 ${at(tookMs, 0.99)} ms, slowest ${at(tookMs, 1)} ms`;
  });
  const kept = keptShare(history, brokenAtMs, [...downs, ...drainsOf(play.orders)]);
  const longest = Math.max(0, ...splitsIn(history, excused).map(({ lastedMs }) => lastedMs));
  return [
    ...lines,
    ...downs.map((down) => `${down.region} down: last named ${lastNamed(history, down)} later`),
    `homes: ${kept === null ? "none to keep" : `${Math.round(kept * 100)} % kept of those that served all the time`}; longest disagreement outside of the fault ${Math.round(longest)} ms`,
    `the test itself: late by ${Math.round(play.lateMs)} ms at most`,
  ];
};

const lastNamed = (history: readonly Told[], { region, fromMs, toMs }: Down): string => {
  const named = history.filter((told) => told.region === region && told.askedAtMs >= fromMs);
  const last = named.findLast(({ atMs }) => toMs === null || atMs <= toMs);
  return last === undefined ? "0 ms" : `${Math.round(last.askedAtMs - fromMs)} ms`;
};

const at = (all: readonly number[], share: number): string => {
  const sorted = all.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(1);
};
