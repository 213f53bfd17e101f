/** What is made of a trace: by whom it is asked, which part of it, how much at once. */
import type { City } from "../cities.ts";

export type TraceOptions = {
  readonly seed: number;
  /** Where clients live, by weight, where the trace does not say it: no public one does, so this is invented. */
  readonly cities: readonly City[];
  /** `tuning`: its first half by sessions; `reporting`: its second. */
  readonly part: "all" | "tuning" | "reporting";
  /**
   * An open loop's load: so many copies of the trace, each begun at another moment, with block ids of their own but for
   * shared prompts; 2.5: every second conversation of a third. Time is never compressed: how long contexts wait is what caches are about.
   */
  readonly copies: number;
  /** A closed loop's load: so many users, who take up a session of the trace after each; null: each session once, all at the same time. */
  readonly users: number | null;
  /** A conversation ends before a longer prompt; null: none is too long. */
  readonly mostPromptTokens: number | null;
  /** A multiple of the trace's own, for speed; null: the trace's own. */
  readonly blockTokens: number | null;
  /** Whether an open loop begins again when the trace is over, with other block ids. */
  readonly isRepeated: boolean;
};

export const TRACE_OPTIONS: Omit<TraceOptions, "seed" | "cities"> = {
  part: "all",
  copies: 1,
  users: null,
  mostPromptTokens: null,
  blockTokens: null,
  isRepeated: false,
};
