/** The time, so that ages grow while nothing comes. */
import { useEffect, useState } from "preact/hooks";

export const useNow = (everyMs = 1_000): number => {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
};
