/** A play in virtual time: conversations whose truth is known are served, measured, and learnt from. */
import { createLearning, type Learning } from "#gtm/datalayer/learning.ts";
import { createDice } from "#gtm/simulation/dice.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { ConversationId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { createMetrics } from "#shared/metrics.ts";
import { aPool, aRegion, aWorld, MODEL, NOW_MS } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";

/** Far from every prior: c_r 1, pNext 0.75, 256 tokens. */
export const TRUTH = {
  heldCorrection: { frankfurt: 0.55, paris: 0.9, virginia: 0.2 },
  rttMs: { frankfurt: 9, paris: 31, virginia: 140 },
  nextTurnFraction: 0.4,
  summary: { promptTokens: 20_000, answer: 300 },
  treatise: { promptTokens: 120, answer: 4_000 },
} as const;

export const NAMES = ["frankfurt", "paris", "virginia"] as const;
export type Name = (typeof NAMES)[number];

export const NETWORK = "198.51.100.0/24";
/** Held for good, so that what is lost is lost by c_r. */
const REGIONS = NAMES.map((name) => aRegion(name, { hasGateway: true, placement: { newTokensPerSecond: null } }));

export const aLearner = () => {
  const clock = createManualClock();
  clock.advance(NOW_MS);
  const world = aWorld(REGIONS);
  const learning = createLearning({
    ...{ clock, metrics: createMetrics(), sites: REGIONS, policy: DEFAULT_POLICY },
    pools: [aPool(REGIONS).name],
    world: () => world,
  });
  return { clock, learning };
};

type Kind = { readonly promptTokens: number; readonly answer: number };
type Spoken = { readonly id: ConversationId; readonly region: Name; readonly kind: Kind; readonly heldTokens: number };
type Open = Spoken & { readonly atMs: number };

/** One conversation a second begins in each region; those that go on do so 10 to 60 s later, in the same region. */
export const createPlay = (seed: number) => {
  const dice = createDice(seed);
  let begun = 0;
  let open: Open[] = [];

  const turnOf = ({ id, region, kind, heldTokens }: Spoken, nowMs: number): MeasuredTurn => {
    const promptTokens = Math.max(kind.promptTokens, heldTokens);
    const completionTokens = Math.round(kind.answer * (0.5 + dice()));
    if (dice() < TRUTH.nextTurnFraction) {
      const atMs = nowMs + 10_000 + dice() * 50_000;
      open.push({ id, region, kind, heldTokens: promptTokens + completionTokens, atMs });
    }
    return aMeasuredTurn({
      ...{ region, conversation: id, model: MODEL, promptTokens, completionTokens, clientPrefix: NETWORK },
      ...{ replica: null, rttMs: TRUTH.rttMs[region] * (1 + 0.5 * dice() ** 2), atAgeMs: 0 },
      cachedTokens: dice() < TRUTH.heldCorrection[region] ? heldTokens : 0,
    });
  };
  return (nowMs: number): readonly MeasuredTurn[] => {
    const due = open.filter(({ atMs }) => atMs <= nowMs);
    open = open.filter(({ atMs }) => atMs > nowMs);
    const goOn = due.map((one) => turnOf(one, nowMs));
    const begin = NAMES.map((region) => {
      begun += 1;
      const id = ConversationId.parse(begun.toString(32).padStart(13, "0"));
      const kind = dice() < 0.5 ? TRUTH.summary : TRUTH.treatise;
      return turnOf({ id, region, kind, heldTokens: 0 }, nowMs);
    });
    return [...goOn, ...begin];
  };
};

/** Each second its turns, then what they teach. */
export const playFor = (
  seconds: number,
  { clock, learning }: ReturnType<typeof aLearner>,
  turnsAt: (nowMs: number) => readonly MeasuredTurn[],
): void => {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000);
    learning.measured(turnsAt(clock.monotonicMs()));
    learning.fold();
  }
};

export const heldIn = (learning: Learning, region: Name) =>
  learning.heldObserved().find((one) => one.region === region)?.tally ?? null;
