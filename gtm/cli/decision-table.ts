/** Decisions a line each: as a table, and as lines that are printed while they happen. */
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import type { Cell, Column } from "./cell.ts";
import { fitted, type Look } from "./fitted.ts";
import { milliseconds, UNKNOWN } from "./quantity.ts";
import { state, table, tableLine } from "./table.ts";

/** Wide enough for lines that are still to come. */
const COLUMNS: readonly Column[] = [
  { header: "AT", width: 20 },
  { header: "DECISION", width: 26 },
  { header: "BY", width: 7, leave: 1 },
  { header: "POOL", width: 8, leave: 2 },
  { header: "CLIENT", width: 18, leave: 5 },
  { header: "VERDICT", width: 9 },
  { header: "REGION", width: 14 },
  { header: "RUNNER-UP", width: 14, leave: 6 },
  { header: "LEAD", width: 8, align: "right", leave: 7 },
  { header: "TTFT", width: 8, align: "right", leave: 3 },
  { header: "CONVERSATION", width: 13, leave: 4 },
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

export const decisionTable = (decisions: readonly DecisionSchema[], look: Look): string =>
  table(
    COLUMNS.map(({ width: _, ...column }) => column),
    decisions.map(decisionRow),
    look,
  );

/** The columns of lines that are printed while they happen, as many as fit, and what is said of the others. */
export const decisionLines = ({ isColourful, columns }: Look) => {
  const fit = fitted(COLUMNS, [], columns);
  const kept = COLUMNS.flatMap(({ header }, at) => (fit.columns.some((one) => one.header === header) ? [at] : []));
  return {
    header: table(fit.columns, [], isColourful),
    note: fit.note,
    lineOf: (decision: DecisionSchema): string => {
      const row = decisionRow(decision);
      return tableLine(
        fit.columns,
        kept.map((at) => row[at] ?? ""),
        isColourful,
      );
    },
  };
};
