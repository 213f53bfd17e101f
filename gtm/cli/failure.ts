/** How a command ends when it does not end well: one message and the exit code that scripts tell cases apart by. */

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  unreachable: 3,
  refusedBySafetyRule: 4,
  precondition: 5,
  waitTimedOut: 6,
  problemsFound: 7,
} as const;

/** Each in words; the help and docs/operators.md say the same. */
export const EXIT_SAYS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done",
  error: "error: a fault in a file, an answer that is none, no role for it, not confirmed",
  usage: "wrong use, or an argument that the GTM does not take",
  unreachable: "GTM unreachable",
  refusedBySafetyRule: "refused by a safety rule",
  precondition: "the state does not allow it, or changed meanwhile",
  waitTimedOut: "--wait timed out",
  problemsFound: "check of what runs found problems: doctor, config diff, dns check, zones delegation --check",
};

/** "0  done" and so on, a line each. */
export const exitLines = (): readonly string[] =>
  (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name) => `${EXIT[name]}  ${EXIT_SAYS[name]}`);

export class CliFailure extends Error {
  readonly exitCode: number;

  /** @param message what was expected, what was found, what to do; empty: it has been told already */
  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "CliFailure";
    this.exitCode = exitCode;
  }
}
