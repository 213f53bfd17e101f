/**
 * Coefficients of prefill time out of observed prefills: relative least squares, robust against those that something else held
 * up (Huber's weights first, then Tukey's), each coefficient only where the observations can tell it apart.
 */
import { TELLING_TOKENS } from "../prefill-confidence.ts";
import { type PrefillSpeed, usualAttnMs } from "./replica-speed.ts";

/** One or several prefills that took this time together. */
export type Prefills = {
  readonly count: number;
  /** Computed, summed. */
  readonly tokens: number;
  /** Σ n · (end − n/2). */
  readonly attention: number;
  readonly ms: number;
};

const ROUNDS = 12;
const HUBER_ROUNDS = 5;
/** Residuals beyond so many deviations count less (Huber), or not at all (Tukey): 95 % as good as least squares where nothing is odd. */
const HUBER_TUNING = 1.345;
const TUKEY_TUNING = 4.685;
/** Of a prediction; a perfect fit has no deviation to measure by. */
const LEAST_DEVIATION = 1e-6;
/** Median absolute deviation of a normal distribution, as a part of its standard deviation. */
const MAD_OF_NORMAL = 0.6745;
/** Observations within a factor of each other do not tell a fixed part, or attention's, from the rest. */
const LEAST_SPREAD = 3;
/** Half of the predictions further off than this: the formula does not describe this engine. */
const WORST_MEDIAN_ERROR = 0.3;

/** Whether these prefills were long enough to say something of the rate. */
export const isTelling = ({ tokens, count }: Prefills): boolean => tokens >= TELLING_TOKENS * count;

/** @returns null: the observations do not agree with any coefficients, or all are of short prefills */
export const fitPrefill = (observations: readonly Prefills[]): PrefillSpeed | null => {
  const telling = observations.filter(isTelling);
  if (telling.length === 0) return null;
  for (const { design, of } of candidates(observations, telling)) {
    const speed = fit(of, design);
    if (speed !== null && isBelieved(of, speed)) return speed;
  }
  return null;
};

/** Which coefficients are fitted: each row of the design matrix, and what the solution means. */
type Design = {
  readonly row: (one: Prefills) => readonly number[];
  readonly speed: (solution: readonly number[]) => PrefillSpeed;
};

/** Attention as the usual part of the linear one. */
const tied = ({ tokens, attention }: Prefills): number => tokens + usualAttnMs(attention);
const DESIGNS = {
  all: {
    row: ({ count, tokens, attention }) => [count, tokens, attention],
    speed: ([fixedMs = 0, linMs = 0, attnMs = 0]) => ({ fixedMs, linMs, attnMs }),
  },
  noFixed: {
    row: ({ tokens, attention }) => [tokens, attention],
    speed: ([linMs = 0, attnMs = 0]) => ({ fixedMs: 0, linMs, attnMs }),
  },
  tiedAttention: {
    row: (one) => [one.count, tied(one)],
    speed: ([fixedMs = 0, linMs = 0]) => ({ fixedMs, linMs, attnMs: usualAttnMs(linMs) }),
  },
  rateOnly: {
    row: (one) => [tied(one)],
    speed: ([linMs = 0]) => ({ fixedMs: 0, linMs, attnMs: usualAttnMs(linMs) }),
  },
} as const satisfies Record<string, Design>;

type Candidate = { readonly design: Design; readonly of: readonly Prefills[] };

/** Best first: what the observations can tell. Where no fixed part is told apart, that of short prefills would pass for the rate. */
const candidates = (all: readonly Prefills[], telling: readonly Prefills[]): readonly Candidate[] => {
  const isSizeSpread = isSpread(all.map(({ tokens, count }) => tokens / count));
  return [
    ...(isSizeSpread && isAttentionSpread(all) ? [{ design: DESIGNS.all, of: all }] : []),
    ...(isAttentionSpread(telling) ? [{ design: DESIGNS.noFixed, of: telling }] : []),
    ...(isSizeSpread ? [{ design: DESIGNS.tiedAttention, of: all }] : []),
    { design: DESIGNS.rateOnly, of: telling },
  ];
};

const isAttentionSpread = (observations: readonly Prefills[]): boolean =>
  isSpread(observations.map(({ tokens, attention }) => attention / tokens));

/** Between a tenth from either end, so that one odd prefill makes no spread. */
const isSpread = (values: readonly number[]): boolean => {
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[Math.floor(sorted.length * 0.1)] ?? 0;
  const high = sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0;
  return high >= LEAST_SPREAD * low;
};

/** null: singular, or a coefficient that no engine has. */
const fit = (observations: readonly Prefills[], design: Design): PrefillSpeed | null => {
  const rows = observations.map(design.row);
  let weights = observations.map(() => 1);
  let expectedMs: readonly number[] = observations.map(({ ms }) => ms);
  let solution: readonly number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const found = solve(rows, observations, weights, expectedMs);
    if (found === null) return null;
    solution = found;
    // By what is predicted: dividing by what was seen would favour the prefills that took too long.
    expectedMs = rows.map((row) => dot(row, found));
    if (expectedMs.some((ms) => !(ms > 0))) return null;
    const residuals = observations.map(({ ms }, at) => Math.abs(ms / (expectedMs[at] ?? ms) - 1));
    const deviation = Math.max(median(residuals) / MAD_OF_NORMAL, LEAST_DEVIATION);
    weights = residuals.map((residual) => (round < HUBER_ROUNDS ? huber : tukey)(residual / deviation));
  }
  const speed = design.speed(solution);
  return speed.linMs > 0 && speed.fixedMs >= 0 && speed.attnMs >= 0 ? speed : null;
};

const huber = (deviations: number): number => Math.min(1, HUBER_TUNING / Math.max(deviations, HUBER_TUNING));
const tukey = (deviations: number): number => Math.max(0, 1 - (deviations / TUKEY_TUNING) ** 2) ** 2;

const isBelieved = (observations: readonly Prefills[], { fixedMs, linMs, attnMs }: PrefillSpeed): boolean => {
  const errors = observations.map(({ count, tokens, attention, ms }) =>
    Math.abs(1 - (fixedMs * count + linMs * tokens + attnMs * attention) / ms),
  );
  return median(errors) <= WORST_MEDIAN_ERROR;
};

/** Normal equations of relative errors, columns scaled to their largest; at most three unknowns. null: singular. */
const solve = (
  rows: readonly (readonly number[])[],
  observations: readonly Prefills[],
  weights: readonly number[],
  expectedMs: readonly number[],
): number[] | null => {
  const size = rows[0]?.length ?? 0;
  const scales = Array.from({ length: size }, (_, column) =>
    rows.reduce((most, row, at) => Math.max(most, (row[column] ?? 0) / (expectedMs[at] ?? 1)), 0),
  );
  if (scales.some((scale) => !(scale > 0))) return null;
  const matrix = scales.map(() => new Array<number>(size + 1).fill(0));
  for (const [at, row] of rows.entries()) {
    const expected = expectedMs[at] ?? 1;
    const scaled = row.map((value, column) => value / (expected * (scales[column] ?? 1)));
    addOuter(matrix, [...scaled, (observations[at]?.ms ?? 0) / expected], weights[at] ?? 0);
  }
  return eliminate(matrix)?.map((value, column) => value / (scales[column] ?? 1)) ?? null;
};

/** matrix += weight · row ⊗ row, the last column being the right side. */
const addOuter = (matrix: readonly number[][], row: readonly number[], weight: number): void => {
  for (const [i, into] of matrix.entries()) {
    const factor = weight * (row[i] ?? 0);
    for (let j = 0; j < into.length; j++) into[j] = (into[j] ?? 0) + factor * (row[j] ?? 0);
  }
};

/** Gauss with the largest pivot; each row ends with its right side. null: singular. */
const eliminate = (matrix: number[][]): number[] | null => {
  const size = matrix.length;
  for (let at = 0; at < size; at++) {
    const below = matrix.slice(at).sort((a, b) => Math.abs(b[at] ?? 0) - Math.abs(a[at] ?? 0));
    matrix.splice(at, below.length, ...below);
    const pivot = matrix[at]?.[at] ?? 0;
    if (Math.abs(pivot) < 1e-9 * size) return null;
    const head = (matrix[at] ?? []).map((value) => value / pivot);
    matrix[at] = head;
    for (const [other, values] of matrix.entries()) {
      const factor = values[at] ?? 0;
      if (other !== at) matrix[other] = values.map((value, column) => value - factor * (head[column] ?? 0));
    }
  }
  return matrix.map((values) => values[size] ?? 0);
};

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((total, value, at) => total + value * (b[at] ?? 0), 0);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
