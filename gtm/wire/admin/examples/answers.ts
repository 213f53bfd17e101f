/** What examples of answers are, by operation. */

export type AnswerExamples = {
  readonly answer: unknown;
  /** With dry_run=true; absent: it looks the same, or there is no such thing. */
  readonly plan?: unknown;
};

/** By method and path below /api/v1. */
export type Answers = Readonly<Record<string, AnswerExamples>>;
