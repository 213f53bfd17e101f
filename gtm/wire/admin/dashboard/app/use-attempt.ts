/** What somebody does with the API, and what was said against it the last time. */
import { useState } from "preact/hooks";
import { ApiError, type Failure } from "./api.ts";

export type Attempts = {
  /** null: the last one was not refused, or there was none. */
  readonly failure: Failure | null;
  /** Keeps what the API says against it, until one is not refused. @throws whatever else went wrong */
  readonly attempt: (act: () => Promise<void>) => Promise<void>;
  /** What was asked for is another thing now. */
  readonly forget: () => void;
};

export const useAttempt = (): Attempts => {
  const [failure, setFailure] = useState<Failure | null>(null);
  return {
    failure,
    attempt: async (act) => {
      try {
        await act();
        setFailure(null);
      } catch (cause) {
        if (!(cause instanceof ApiError)) throw cause;
        setFailure(cause.failure);
      }
    },
    forget: () => setFailure(null),
  };
};
