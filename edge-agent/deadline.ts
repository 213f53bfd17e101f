/** When an attempt ends whatever comes of it: by its time, or because nobody wants it any more. */

export type Deadline = {
  readonly isOver: () => boolean;
  /** Called once when it is over; the newest caller alone is. */
  readonly whenOver: (stop: () => void) => void;
  /** Must be called when the attempt has ended: nothing happens after it. */
  readonly release: () => void;
};

/** Signals made of signals and timers cost more than the attempt: of 48 a second a tenth of the agent's time. */
export const createDeadline = (ms: number, signal: AbortSignal): Deadline => {
  let isOver = false;
  let stop: () => void = () => {};
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    stop();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    isOver: () => isOver,
    whenOver: (newest) => {
      stop = newest;
    },
    release: () => {
      stop = () => {};
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    },
  };
};
