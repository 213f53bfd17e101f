/** Recorded decisions as `gtm decisions list|tail -o jsonl` prints them, or `-o json`: what of each is a client's turn. */
import { faultAt, isRecord, numberOf, type Row, rowsOf, type TraceFile, wholeOf } from "../traces/trace-file.ts";

export type DecidedTurn = {
  readonly id: string;
  readonly atMs: number;
  readonly pool: string;
  readonly model: string;
  /** A coarse place of the client, "50.0,8.5"; an operator's name; null: unknown. */
  readonly area: string | null;
  /** null: nothing in the request named one. */
  readonly conversation: string | null;
  readonly parent: string | null;
  /** Of the prompt: computed for an earlier turn, and new. */
  readonly contextTokens: number;
  readonly newTokens: number;
  /** What was expected; the log does not know what was written in the end. */
  readonly outputTokens: number;
};

/**
 * @returns turns asked by HTTP; DNS answers and turns whose context had to be assumed are left out, and counted
 * @throws {OperationalError} GTM_TRACE_INVALID
 */
export const decidedTurns = (file: TraceFile) => {
  const turns = new Map<string, DecidedTurn>();
  const leftOut = { dnsAnswers: 0, withoutConversation: 0 };
  for (const row of rowsOfDecisions(file)) {
    const { value, place } = row;
    if (typeof value["id"] !== "string" || typeof value["kind"] !== "string") {
      throw faultAt(place, 'a decision with "id" and "kind", as gtm decisions list -o jsonl prints it');
    }
    if (value["kind"] !== "turn" || value["channel"] !== "http") leftOut.dnsAnswers += 1;
    else if (!isRecord(value["conversation"])) leftOut.withoutConversation += 1;
    else turns.set(value["id"], turnOf(value["id"], row, value["conversation"]));
  }
  return { turns: [...turns.values()].sort((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1)), leftOut };
};

const turnOf = (id: string, { place, value }: Row, told: Readonly<Record<string, unknown>>): DecidedTurn => {
  const atMs = typeof value["at"] === "string" ? Date.parse(value["at"]) : Number.NaN;
  if (Number.isNaN(atMs)) throw faultAt(place, '"at" as a time, such as 2026-11-30T12:00:00.000Z');
  const conversation = { place, value: told };
  const client = isRecord(value["client"]) ? value["client"] : {};
  const expected = { place, value: isRecord(value["expected"]) ? value["expected"] : {} };
  return {
    id,
    atMs,
    pool: textOf({ place, value }, "pool"),
    model: textOf({ place, value }, "model"),
    area: typeof client["area"] === "string" ? client["area"] : null,
    conversation: textOf(conversation, "id"),
    parent: typeof told["parentId"] === "string" ? told["parentId"] : null,
    contextTokens: told["isContextAssumed"] === true ? 0 : wholeOf(conversation, "contextTokens", 0),
    newTokens:
      wholeOf(conversation, "newTokens", 0) +
      (told["isContextAssumed"] === true ? wholeOf(conversation, "contextTokens", 0) : 0),
    outputTokens: Math.max(1, Math.round(numberOf(expected, "outputTokens", 0))),
  };
};

const textOf = ({ place, value }: Row, field: string): string => {
  const found = value[field];
  if (typeof found === "string" && found !== "") return found;
  throw faultAt(place, `"${field}" as a text`);
};

/** A decision a line; or one JSON text with `items`, as `-o json` prints a page. */
export function* rowsOfDecisions({ name, lines }: TraceFile): Generator<Row> {
  const all = [...lines];
  const [first = ""] = all;
  if (first.trim() !== "{") {
    yield* rowsOf({ name, lines: all });
    return;
  }
  for (const { value, place } of rowsOf({ name, lines: [all.join(" ")] })) {
    const items = value["items"];
    if (!Array.isArray(items)) throw faultAt(place, '"items" as an array of decisions');
    for (const [at, item] of items.entries()) {
      if (!isRecord(item)) throw faultAt(place, `item ${at + 1} of "items" as a decision`);
      yield { place: { ...place, file: `${name} (item ${at + 1})` }, value: item };
    }
  }
}
