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
export class CliFailure extends Error {
  readonly exitCode: number;

  /** @param message what was expected, what was found, what to do; empty: it has been told already */
  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "CliFailure";
    this.exitCode = exitCode;
  }
}
