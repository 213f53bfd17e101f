/** Decisions a line each: as a table, and as lines that are printed while they happen. */
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import { milliseconds, UNKNOWN } from "./quantity.ts";
import { type Cell, type Column, state, table, tableLine } from "./table.ts";

/** Wide enough for lines that are still to come. */
const COLUMNS: readonly Column[] = [
  { header: "AT", width: 20 },
  { header: "DECISION", width: 26 },
  { header: "BY", width: 7 },
  { header: "POOL", width: 8 },
  { header: "CLIENT", width: 18 },
  { header: "VERDICT", width: 9 },
  { header: "REGION", width: 14 },
  { header: "RUNNER-UP", width: 14 },
  { header: "LEAD", width: 8, align: "right" },
  { header: "TTFT", width: 8, align: "right" },
  { header: "CONVERSATION", width: 13 },
];

const decisionRow = (decision: DecisionSchema): readonly Cell[] => {
  const { verdict } = decision;
  const chosen = decision.considered.find(({ region }) => region === verdict.region);
  return [
    instant(decision.at),
    decision.id,
    decision.channel,
    decision.pool,
    decision.client.subnet,
    state(verdict.kind),
    verdict.region ?? UNKNOWN,
    verdict.runnerUp ?? UNKNOWN,
    milliseconds(verdict.leadMs),
    milliseconds(chosen?.cost?.predictedTtftMs),
    decision.conversation?.id ?? UNKNOWN,
  ];
};

export const decisionTable = (decisions: readonly DecisionSchema[], isColourful: boolean): string =>
  table(
    COLUMNS.map(({ width: _, ...column }) => column),
    decisions.map(decisionRow),
    isColourful,
  );

export const decisionHeader = (isColourful: boolean): string => table(COLUMNS, [], isColourful);

export const decisionLine = (decision: DecisionSchema, isColourful: boolean): string =>
  tableLine(COLUMNS, decisionRow(decision), isColourful);
