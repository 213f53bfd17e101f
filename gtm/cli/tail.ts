/** Prints decisions as they are made. */
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import type { ServerEvent } from "#gtm/wire/admin/server-events.ts";
import { type Invocation, understood } from "./api-command.ts";
import { decisionLines } from "./decision-table.ts";
import { followEvents, jsonOfEvent, tellOfStream } from "./follow-events.ts";

export type TailWish = {
  readonly filters: Readonly<Record<string, string | undefined>>;
  /** Only those whose lead was below their margin. */
  readonly isCloseOnly: boolean;
  /** How many to print; null: until interrupted. */
  readonly most: number | null;
};

export const tail = async (invocation: Invocation, { filters, isCloseOnly, most }: TailWish): Promise<void> => {
  const { io, format } = invocation;
  const lines = decisionLines(invocation.look);
  if (format === "table") {
    io.print(lines.header);
    io.tell(lines.note);
  }
  let printed = 0;
  const onEvent = (event: ServerEvent): boolean => {
    if (tellOfStream(invocation, event) || event.event !== "decision") return false;
    if (format !== "table" && !isCloseOnly) io.print(`${event.data}\n`);
    else {
      const decision = understood(DecisionSchema, jsonOfEvent(event));
      if (isCloseOnly && !isClose(decision)) return false;
      io.print(format === "table" ? lines.lineOf(decision) : `${event.data}\n`);
    }
    printed += 1;
    return printed === most;
  };
  await followEvents(invocation, { query: { ...filters, kinds: "decision" }, after: null, onEvent });
};

/** Nobody led by as much as a conversation must save to move; the page says the same. */
export const isClose = ({ verdict, marginMs }: DecisionSchema): boolean =>
  verdict.leadMs !== null && verdict.leadMs < marginMs;
