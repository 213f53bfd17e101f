/** Before something is changed: rules that forbid it are named, and the person at the terminal is asked, or has said so beforehand. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
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

/**
 * @param passed the rule that is to be passed; @param sentenceOf goes on after the rule's name
 * @throws {CliFailure} refused by a safety rule, where another forbids it
 */
export const mustPassRules = (
  { violations }: Pick<OrderEffects, "violations">,
  passed: string | undefined,
  sentenceOf: (detail: string) => string,
): void => {
  const forbidding = violations.find(({ rule }) => rule !== passed);
  if (forbidding === undefined) return;
  const { rule, detail } = forbidding;
  throw new CliFailure(
    EXIT.refusedBySafetyRule,
    `the safety rule ${rule} refuses ${sentenceOf(detail)}. --override-rule ${rule} does it all the same.`,
  );
};
