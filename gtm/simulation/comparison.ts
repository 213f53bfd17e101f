/** The comparison that the demo ends with: one workload, played against each policy in virtual time; and its table. */
import { type ComparisonRow, rowOf } from "./comparison-row.ts";
import { type CompareOptions, MODERATE_LOAD, moderateLoad } from "./moderate-load.ts";
import { playScenario } from "./play-scenario.ts";
import type { CreateContender } from "./rival.ts";
import { createLeastRequests } from "./rivals/least-requests.ts";
import { createRoundRobin } from "./rivals/round-robin.ts";
import { createSticky } from "./rivals/sticky.ts";
import { steered } from "./steered.ts";
import type { TurnRecord } from "./turn-record.ts";

const POLICIES: readonly (readonly [name: string, create: CreateContender])[] = [
  ["round robin", createRoundRobin],
  ["least requests", createLeastRequests],
  ["sticky", createSticky],
  ["gtm", steered()],
];

/** One row a policy, from the least to the most that it knows. Same options, same rows. */
export const compare = (options: CompareOptions = MODERATE_LOAD): readonly ComparisonRow[] => {
  const scenario = moderateLoad(options);
  const { warmUpMs, measuredMs, sloMs } = scenario;
  return POLICIES.map(([policy, create]) => {
    const records: TurnRecord[] = [];
    const { regions } = playScenario(scenario, create, {
      seed: options.workload.seed,
      onTurn: (record) => records.push(record),
      onLost: ({ reason }) => {
        throw new Error(`a turn was lost in a simulation of health: ${reason}`);
      },
    });
    return rowOf(policy, records, regions, { fromMs: warmUpMs, toMs: warmUpMs + measuredMs, sloMs });
  });
};

type Column = { readonly title: string; readonly text: (row: ComparisonRow) => string };

const COLUMNS: readonly Column[] = [
  { title: "policy", text: ({ policy }) => policy },
  { title: "turns served", text: ({ turnsServed }) => String(turnsServed) },
  { title: "cached tokens", text: (row) => percent(row.cachedFraction) },
  { title: "TTFT mean", text: (row) => seconds(row.ttftMeanMs) },
  { title: "p50", text: (row) => seconds(row.ttftP50Ms) },
  { title: "p95", text: (row) => seconds(row.ttftP95Ms) },
  { title: "first turns", text: (row) => seconds(row.firstTurnMeanMs) },
  { title: "later turns", text: (row) => seconds(row.laterTurnMeanMs) },
  { title: "within SLO", text: (row) => percent(row.sloAttainedFraction) },
  { title: "moves", text: (row) => row.movesPerConversation.toFixed(2) },
  { title: "utilisation", text: (row) => percent(row.utilisationFraction) },
];

/** @param rows at least one @returns lines of equal width, each with its line feed, and one line on the load */
export const formatComparison = (rows: readonly ComparisonRow[]): string => {
  const cells = [COLUMNS.map(({ title }) => title), ...rows.map((row) => COLUMNS.map(({ text }) => text(row)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  // Names to the left, figures to the right.
  const line = (texts: readonly string[]): string =>
    texts.map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))).join("  ");
  const loads = rows.map((row) => row.noCacheUtilisationFraction);
  const load = `Load: ${percent(Math.min(...loads))} to ${percent(Math.max(...loads))} of what the replicas could prefill without any cache.`;
  return `${cells.map(line).join("\n")}\n${load}\n`;
};

const percent = (fraction: number): string => `${(fraction * 100).toFixed(0)} %`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
