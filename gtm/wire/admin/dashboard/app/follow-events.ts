/** The event stream, followed until nobody looks any more: after an end, and after the page was hidden, it goes on where it was. */
import { type ServerEvent, serverEvents } from "../../server-events.ts";
import { ApiError, type Failure, failureOf, headersOf, sent } from "./api.ts";

const RETRY_MS = 2_000;

export type EventListenerOf = {
  readonly onOpen: () => void;
  readonly onEvent: (event: ServerEvent) => void;
  /** It ended, or could not be opened. */
  readonly onClosed: (failure: Failure | null) => void;
};

/** @param query of /events, without the question mark */
export const followOn = async (query: string, signal: AbortSignal, listener: EventListenerOf): Promise<void> => {
  let lastId: string | null = null;
  const follow = async (closing: AbortSignal): Promise<void> => {
    const headers = headersOf();
    if (lastId !== null) headers.set("last-event-id", lastId);
    const path = `/events?kinds=decision${query === "" ? "" : `&${query}`}`;
    const response = await sent(path, { headers, signal: closing });
    if (!response.ok || response.body === null) throw new ApiError(failureOf(response.status, await response.text()));
    listener.onOpen();
    for await (const event of serverEvents(chunksOf(response.body))) {
      lastId = event.id ?? lastId;
      listener.onEvent(event);
    }
  };
  while (!signal.aborted) {
    await shown(signal);
    const hiding = whenHidden();
    const failure = await follow(AbortSignal.any([signal, hiding.signal])).then(
      () => null,
      (cause: unknown) => (cause instanceof ApiError ? cause.failure : null),
    );
    hiding.stop();
    if (signal.aborted) return;
    listener.onClosed(failure);
    if (!document.hidden) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};

/** Resolves when the page is in sight, or nobody looks any more. */
const shown = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });

/** A page that nobody sees reads nothing. */
const whenHidden = (): { readonly signal: AbortSignal; readonly stop: () => void } => {
  const hiding = new AbortController();
  const look = (): void => {
    if (document.hidden) hiding.abort();
  };
  document.addEventListener("visibilitychange", look);
  return { signal: hiding.signal, stop: () => document.removeEventListener("visibilitychange", look) };
};

/** Not every browser iterates over a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
