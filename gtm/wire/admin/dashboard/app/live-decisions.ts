/** Decisions as they are made, from the event stream: shown at most once a frame and at a pace that people can read. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import type { Failure } from "./api.ts";
import { followOn } from "./follow-events.ts";
import { createLiveWindow, KEPT, type Unseen } from "./live-window.ts";

const SHOWN_EVERY_MS = 250;
/** Nobody reads more. */
export const TOLD_PER_SECOND = 20;

export type Live = {
  readonly decisions: readonly DecisionSchema[];
  readonly unseen: Unseen;
  readonly failure: Failure | null;
  readonly isOpen: boolean;
};
const NOTHING: Live = {
  decisions: [],
  unseen: { skipped: 0, paused: 0, gaps: 0, perSecond: null },
  failure: null,
  isOpen: false,
};

/**
 * Ends while the page is hidden, and goes on after the event that came last once somebody looks again.
 *
 * @param query of /events, without the question mark
 * @param isPaused what comes meanwhile is counted and dropped
 */
export const useLiveDecisions = (query: string, isPaused: boolean): Live => {
  const [live, setLive] = useState(NOTHING);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  useEffect(() => {
    const leaving = new AbortController();
    const window = createLiveWindow(() => performance.now());
    let frame = 0;
    setLive(NOTHING);
    const show = (): void => {
      frame = 0;
      const { come, unseen } = window.take();
      setLive((before) => {
        if (come.length === 0 && unseen === before.unseen) return before;
        return { ...before, unseen, decisions: [...come, ...before.decisions].slice(0, KEPT) };
      });
    };
    void followOn(`per_second=${TOLD_PER_SECOND}${query === "" ? "" : `&${query}`}`, leaving.signal, {
      onOpen: () => setLive((before) => ({ ...before, failure: null, isOpen: true })),
      onEvent: (event) => window.add(event, paused.current),
      onClosed: (failure) => setLive((before) => ({ ...before, failure, isOpen: false })),
    });
    const timer = setInterval(() => {
      if (frame === 0 && !document.hidden) frame = requestAnimationFrame(show);
    }, SHOWN_EVERY_MS);
    return () => {
      leaving.abort();
      clearInterval(timer);
      cancelAnimationFrame(frame);
    };
  }, [query]);
  return live;
};
