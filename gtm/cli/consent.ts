/** Asks the person at the terminal before something is changed; where nobody is there it must have been said beforehand. */
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

/** @throws {CliFailure} usage, where there is no terminal. @param what goes on after "add --yes to" */
export const mustBeInteractive = (io: CliIo, what: string): void => {
  if (io.isInteractive) return;
  throw new CliFailure(EXIT.usage, `nobody is there to be asked (no terminal): add --yes to ${what}`);
};

/** @throws {CliFailure} on anything but y or yes */
export const mustAgree = async (io: CliIo, question: string): Promise<void> => {
  const answer = await io.ask(`\n${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CliFailure(EXIT.error, "not confirmed; nothing was changed");
};
