/** Follows the event stream until enough was seen or somebody interrupts; where it breaks it goes on after the last event. */
import { type ServerEvent, serverEvents } from "#gtm/wire/admin/server-events.ts";
import type { Invocation } from "./api-command.ts";
import { unreachable } from "./client.ts";
import { CliFailure, EXIT } from "./failure.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export type EventWish = {
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The id of the event after which to go on; null: from now on. */
  readonly after: string | null;
  /** @returns whether enough was seen */
  readonly onEvent: (event: ServerEvent) => boolean;
};

type Progress = { lastEventId: string | null; waitMs: number; hasConnected: boolean };

/**
 * @returns the id of the last event; null: none came
 * @throws {CliFailure} when nothing answers at the first attempt, or somebody answers that it will not
 */
export const followEvents = async (invocation: Invocation, wish: EventWish): Promise<string | null> => {
  const { io } = invocation;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  const progress: Progress = { lastEventId: wish.after, waitMs: FIRST_WAIT_MS, hasConnected: false };
  try {
    while (!(await follow(invocation, wish, progress, interrupted.signal))) {
      io.tell(`The stream ended; trying again in ${progress.waitMs / 1_000} s.\n`);
      await Promise.race([io.sleep(progress.waitMs), aborted(interrupted.signal)]);
      if (interrupted.signal.aborted) break;
      progress.waitMs = Math.min(LONGEST_WAIT_MS, progress.waitMs * 2);
    }
    return progress.lastEventId;
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
  }
};

/** One connection. @returns whether that was all; false: it ended, and another may go on */
const follow = async (
  invocation: Invocation,
  { query, onEvent }: EventWish,
  progress: Progress,
  interrupted: AbortSignal,
): Promise<boolean> => {
  const aborter = new AbortController();
  const signal = AbortSignal.any([aborter.signal, interrupted]);
  try {
    const call = { method: "GET", path: "/events", query } as const;
    const response = await invocation.client.stream(call, progress.lastEventId, signal);
    progress.hasConnected = true;
    for await (const event of serverEvents(bodyOf(response))) {
      progress.waitMs = FIRST_WAIT_MS;
      progress.lastEventId = event.id ?? progress.lastEventId;
      if (onEvent(event)) return true;
    }
    return interrupted.aborted;
  } catch (error) {
    if (interrupted.aborted) return true;
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

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** What the stream says of itself, for people. @returns whether the event was such a word */
export const tellOfStream = ({ io }: Invocation, { event, data }: ServerEvent): boolean => {
  if (event === "gap") io.tell("Events are missing here: what followed the last one is no longer kept.\n");
  else if (event === "skipped") io.tell(`Not shown, because they came too fast: ${data}\n`);
  else return false;
  return true;
};

/** @throws {CliFailure} where it is no JSON */
export const jsonOfEvent = ({ data }: ServerEvent): unknown => {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new CliFailure(EXIT.error, `the event stream holds what is not JSON: ${String(cause)}`);
  }
};
