/** What Prometheus sees of decisions: how many, where to, why not elsewhere, how close, how long. */
import { type Decision, regionOf, type Verdict } from "#gtm/domain/decision.ts";
import { LATE_FIRST_TOKEN_MS } from "#gtm/domain/late-first-token.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { Metrics } from "#shared/metrics.ts";

/** 10 µs to 100 ms: a cell takes microseconds, a turn may wait for the store. */
const DURATION_BUCKETS = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1];

/** @returns counts one entry; an explanation decides nothing and is not counted */
export const createDecisionMetrics = (
  metrics: Metrics,
  clock: Pick<Clock, "monotonicMs">,
): ((entry: Entry) => void) => {
  const decisions = metrics.counter({
    name: "gtm_decisions_total",
    help: "Decisions by channel, pool, region (none: unserved) and verdict. A DNS cell counts once a decision, not once an answer.",
    labels: ["channel", "pool", "region", "verdict"],
  });
  const exclusions = metrics.counter({
    name: "gtm_exclusions_total",
    help: "Times that a region of the pool could not serve, by the reason.",
    labels: ["region", "exclusion"],
  });
  const duration = metrics.histogram({
    name: "gtm_decision_duration_seconds",
    help: "From the query's receipt to its record.",
    labels: ["channel"],
    buckets: DURATION_BUCKETS,
  });
  const lead = metrics.histogram({
    name: "gtm_decision_lead_seconds",
    help: "How much cheaper the chosen region was than the runner-up; 0 where only the margin keeps a conversation.",
    labels: ["channel"],
  });
  const overThreeSeconds = metrics.counter({
    name: "gtm_turns_over_three_seconds_total",
    help: "Turns whose predicted time to first token exceeds three seconds.",
    labels: ["region"],
  });
  const migrations = metrics.counter({
    name: "gtm_migrations_total",
    help: "Conversations that left home, by where from, where to, and why: cheaper, or what kept home from serving.",
    labels: ["from", "to", "cause"],
  });

  const withheld = metrics.counter({
    name: "gtm_withheld_verdicts_total",
    help: "What steering would have said in a pool in shadow, and whether that is where the answer went anyway.",
    labels: ["channel", "pool", "verdict", "agrees"],
  });

  const countWithheld = (decision: Decision, channel: string, region: string | null): void => {
    if (decision.withheld === null) return;
    const agrees = String(regionOf(decision.withheld) === region);
    withheld.inc({ channel, pool: decision.turn.pool.name, verdict: decision.withheld.kind, agrees });
  };
  const countExclusions = ({ considered }: Decision): void => {
    for (const one of considered) {
      // That a region is no member of the pool is no news.
      if (one.kind !== "excluded" || one.exclusion.reason === "not-a-member") continue;
      exclusions.inc({ region: one.region, exclusion: one.exclusion.reason });
    }
  };
  const countTurn = (decision: Decision, region: string): void => {
    if ((predictedTtftMs(decision, region) ?? 0) > LATE_FIRST_TOKEN_MS) overThreeSeconds.inc({ region });
    const cause = causeOf(decision.verdict, decision);
    if (cause !== null) migrations.inc({ ...cause, to: region });
  };

  return ({ query, decision }) => {
    const { channel } = query;
    if (channel !== "http" && channel !== "dns") return;
    const { verdict } = decision;
    const region = regionOf(verdict);
    decisions.inc({ channel, pool: query.pool.name, region: region ?? "none", verdict: verdict.kind });
    duration.observe(Math.max(0, clock.monotonicMs() - query.receivedAtMs) / 1_000, { channel });
    countExclusions(decision);
    countWithheld(decision, channel, region);
    if (verdict.kind === "unserved" || region === null) return;
    if (verdict.leadMs !== null) lead.observe(Math.max(0, verdict.leadMs) / 1_000, { channel });
    if (query.kind === "turn") countTurn(decision, region);
  };
};

const predictedTtftMs = (decision: Decision, region: string): number | null => {
  const chosen = decision.considered.find((one) => one.region === region);
  return chosen?.kind === "candidate" ? chosen.cost.predictedTtftMs : null;
};

const causeOf = (
  verdict: Verdict,
  { considered }: Decision,
): { readonly from: string; readonly cause: string } | null => {
  if (verdict.kind === "migrated") return { from: verdict.from, cause: "cheaper" };
  if (verdict.kind !== "displaced") return null;
  const home = considered.find(({ region }) => region === verdict.from);
  return { from: verdict.from, cause: home?.kind === "excluded" ? home.exclusion.reason : "gone" };
};
