/** What the API last said about something, asked again and again while somebody looks. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, call, type Failure } from "./api.ts";

export type Known<Body> = {
  /** null: nothing came yet. */
  readonly body: Body | null;
  /** When it came, by this browser's clock; null: not yet. */
  readonly atMs: number | null;
  /** Of the newest attempt; null: it went well. */
  readonly failure: Failure | null;
};
const NOTHING = { body: null, atMs: null, failure: null };

/**
 * @param path null: nothing is asked
 * @param everyMs null: once
 */
export const useApi = <Body>(
  path: string | null,
  everyMs: number | null,
): Known<Body> & { readonly again: () => void } => {
  const [known, setKnown] = useState<Known<Body>>(NOTHING);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    setKnown(NOTHING);
  }, [path]);
  useEffect(() => {
    if (path === null) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      const answered = await answerTo<Body>(path, leaving.signal);
      if (answered === null) return;
      // What was known stays on the page, with its age.
      setKnown((before) => (answered.failure === null ? answered : { ...before, failure: answered.failure }));
      // A page that nobody looks at asks less.
      if (everyMs !== null) timer = setTimeout(() => void ask(), document.hidden ? everyMs * 10 : everyMs);
    };
    void ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, asked]);
  return { ...known, again: () => setAsked((times) => times + 1) };
};

/** null: nobody looks any more. */
const answerTo = async <Body>(path: string, signal: AbortSignal): Promise<Known<Body> | null> => {
  try {
    const { body } = await call<Body>({ path, signal });
    return { body, atMs: Date.now(), failure: null };
  } catch (cause) {
    if (signal.aborted) return null;
    if (cause instanceof ApiError) return { body: null, atMs: null, failure: cause.failure };
    throw cause;
  }
};
