/** Decisions as they are made, from the event stream: the newest few hundred, shown at a pace that people can read. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { type ServerEvent, serverEvents } from "../../server-events.ts";
import { ApiError, type Failure, failureOf, headersOf, sent } from "./api.ts";

const KEPT = 300;
const SHOWN_EVERY_MS = 250;
const RETRY_MS = 2_000;

export type Live = {
  readonly decisions: readonly DecisionSchema[];
  /** Made while nobody was told, because they came too fast. */
  readonly skipped: number;
  readonly failure: Failure | null;
  readonly isOpen: boolean;
};
const NOTHING: Live = { decisions: [], skipped: 0, failure: null, isOpen: false };

/** @param query of /events, without the question mark; @param isPaused what comes meanwhile is dropped */
export const useLiveDecisions = (query: string, isPaused: boolean): Live => {
  const [live, setLive] = useState(NOTHING);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  useEffect(() => {
    const leaving = new AbortController();
    const waiting = createWaiting();
    setLive(NOTHING);
    const show = (): void => {
      const { come, skipped } = waiting.take();
      if (come.length === 0 && skipped === 0) return;
      setLive((before) => ({
        ...before,
        decisions: [...come, ...before.decisions].slice(0, KEPT),
        skipped: before.skipped + skipped,
      }));
    };
    void followOn(query, leaving.signal, {
      onOpen: () => setLive((before) => ({ ...before, failure: null, isOpen: true })),
      onEvent: (event) => {
        if (!paused.current) waiting.add(event);
      },
      onClosed: (failure) => setLive((before) => ({ ...before, failure, isOpen: false })),
    });
    const timer = setInterval(show, SHOWN_EVERY_MS);
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [query]);
  return live;
};

/** What came and is not shown yet; of more than are kept the oldest go. */
const createWaiting = () => {
  let come: DecisionSchema[] = [];
  let skipped = 0;
  return {
    add: ({ event, data }: ServerEvent): void => {
      if (event === "decision") come = [JSON.parse(data), ...come.slice(0, KEPT - 1)];
      if (event === "skipped") skipped += Number(JSON.parse(data).decisions ?? 0);
    },
    take: () => {
      const taken = { come, skipped };
      come = [];
      skipped = 0;
      return taken;
    },
  };
};

type Listener = {
  readonly onOpen: () => void;
  readonly onEvent: (event: ServerEvent) => void;
  readonly onClosed: (failure: Failure | null) => void;
};

/** Until nobody looks any more; where the stream ends it goes on after the event that came last. */
const followOn = async (query: string, signal: AbortSignal, listener: Listener): Promise<void> => {
  let lastId: string | null = null;
  const follow = async (): Promise<void> => {
    const headers = headersOf();
    if (lastId !== null) headers.set("last-event-id", lastId);
    const response = await sent(`/events?kinds=decision${query === "" ? "" : `&${query}`}`, { headers, signal });
    if (!response.ok || response.body === null) throw new ApiError(failureOf(response.status, await response.text()));
    listener.onOpen();
    for await (const event of serverEvents(chunksOf(response.body))) {
      lastId = event.id ?? lastId;
      listener.onEvent(event);
    }
  };
  while (!signal.aborted) {
    const failure = await follow().then(
      () => null,
      (cause: unknown) => (cause instanceof ApiError ? cause.failure : null),
    );
    if (signal.aborted) return;
    listener.onClosed(failure);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};

/** Not every browser iterates over a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
