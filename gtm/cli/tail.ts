/** Follows the event stream and prints its decisions; where the connection breaks it goes on after the last event. */
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { type ServerEvent, serverEvents } from "#gtm/wire/admin/server-events.ts";
import { type Invocation, understood } from "./api-command.ts";
import { unreachable } from "./client.ts";
import { decisionHeader, decisionLine } from "./decision-table.ts";
import { CliFailure, EXIT } from "./failure.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

type Progress = { lastEventId: string | null; printed: number; waitMs: number; hasConnected: boolean };

/** @param most how many decisions to print; null: until interrupted */
export const tail = async (
  invocation: Invocation,
  filters: Readonly<Record<string, string | undefined>>,
  most: number | null,
): Promise<void> => {
  const { io, format } = invocation;
  if (format === "table") io.print(decisionHeader(io.isColourful));
  const progress: Progress = { lastEventId: null, printed: 0, waitMs: FIRST_WAIT_MS, hasConnected: false };
  while (!(await follow(invocation, filters, most, progress))) {
    io.tell(`The stream ended; trying again in ${progress.waitMs / 1_000} s.\n`);
    await io.sleep(progress.waitMs);
    progress.waitMs = Math.min(LONGEST_WAIT_MS, progress.waitMs * 2);
  }
};

/** One connection. @returns whether enough has been printed; false: it ended, and another may go on */
const follow = async (
  invocation: Invocation,
  filters: Readonly<Record<string, string | undefined>>,
  most: number | null,
  progress: Progress,
): Promise<boolean> => {
  const call = { method: "GET", path: "/events", query: { ...filters, kinds: "decision" } } as const;
  const aborter = new AbortController();
  try {
    const response = await invocation.client.stream(call, progress.lastEventId, aborter.signal);
    progress.hasConnected = true;
    for await (const event of serverEvents(bodyOf(response))) {
      progress.waitMs = FIRST_WAIT_MS;
      progress.lastEventId = event.id ?? progress.lastEventId;
      if (print(invocation, event)) progress.printed += 1;
      if (progress.printed === most) return true;
    }
    return false;
  } catch (error) {
    const failure = error instanceof CliFailure ? error : unreachable(invocation.client.server, error);
    if (progress.hasConnected && failure.exitCode === EXIT.unreachable) return false;
    throw failure;
  } finally {
    aborter.abort();
  }
};

const bodyOf = (response: Response): AsyncIterable<Uint8Array> => {
  if (response.body === null) throw new CliFailure(EXIT.error, "the event stream is empty");
  return response.body;
};

/** @returns whether it was a decision */
const print = ({ io, format }: Invocation, { event, data }: ServerEvent): boolean => {
  switch (event) {
    case "decision":
      io.print(format === "table" ? lineOf(data, io.isColourful) : `${data}\n`);
      return true;
    case "gap":
      io.tell("Decisions are missing here: what followed the last one shown is no longer kept.\n");
      return false;
    case "skipped":
      io.tell(`Not shown, because they came too fast: ${data}\n`);
      return false;
    default:
      return false;
  }
};

const lineOf = (data: string, isColourful: boolean): string =>
  decisionLine(understood(DecisionSchema, parsed(data)), isColourful);

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new CliFailure(EXIT.error, `the event stream holds what is not JSON: ${String(cause)}`);
  }
};
