/** Conversations under a filter, a page after the other as somebody scrolls, each once, ten thousand at most. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { ApiError, call, type Failure } from "./api.ts";

/** Of more nobody scrolls to the end: a filter finds them. */
export const MOST_ROWS = 10_000;
const PAGE = 250;

type Page = {
  readonly items: readonly ConversationView[];
  readonly next_cursor: string | null;
  readonly examined: number;
};

export type Conversations = {
  readonly items: readonly ConversationView[];
  /** null: there is no more. */
  readonly next: string | null;
  /** How many were looked at for them. */
  readonly examined: number;
  readonly isAsking: boolean;
  readonly failure: Failure | null;
  /** When the first page came, by this browser's clock; null: not yet. */
  readonly atMs: number | null;
};

const NOTHING: Conversations = { items: [], next: null, examined: 0, isAsking: true, failure: null, atMs: null };

/** @param query of /conversations, without page and question mark; null: nothing is asked */
export const useConversations = (
  query: string | null,
): Conversations & { readonly more: () => void; readonly again: () => void } => {
  const [known, setKnown] = useState(NOTHING);
  const [asked, setAsked] = useState(0);
  const asking = useRef<AbortController | null>(null);

  const ask = async (cursor: string | null): Promise<void> => {
    if (query === null || asking.current !== null) return;
    const leaving = new AbortController();
    asking.current = leaving;
    setKnown((before) => ({ ...before, isAsking: true }));
    const answered = await pageOf(query, cursor, leaving.signal);
    if (asking.current !== leaving) return;
    asking.current = null;
    if (answered !== null) setKnown((before) => withPage(before, answered));
  };
  useEffect(() => {
    setKnown(NOTHING);
    void ask(null);
    return () => {
      asking.current?.abort();
      asking.current = null;
    };
  }, [query, asked]);
  const { next, items, failure } = known;
  return {
    ...known,
    more: () => {
      if (next !== null && failure === null && items.length < MOST_ROWS) void ask(next);
    },
    again: () => setAsked((times) => times + 1),
  };
};

/** null: nobody looks any more. */
const pageOf = async (query: string, cursor: string | null, signal: AbortSignal): Promise<Page | Failure | null> => {
  const page = `limit=${PAGE}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
  try {
    return (await call<Page>({ path: `/conversations?${page}${query === "" ? "" : `&${query}`}`, signal })).body;
  } catch (cause) {
    if (signal.aborted) return null;
    if (cause instanceof ApiError) return cause.failure;
    throw cause;
  }
};

const withPage = (before: Conversations, answered: Page | Failure): Conversations => {
  if ("kind" in answered) return { ...before, isAsking: false, failure: answered };
  const seen = new Set(before.items.map(({ id }) => id));
  // One that had a turn meanwhile may come a second time.
  const added = answered.items.filter(({ id }) => !seen.has(id));
  return {
    items: [...before.items, ...added].slice(0, MOST_ROWS),
    next: answered.next_cursor,
    examined: before.examined + answered.examined,
    isAsking: false,
    failure: null,
    atMs: before.atMs ?? Date.now(),
  };
};
