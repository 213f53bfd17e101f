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
 * @param passed the rules that are to be passed, with commas between them; @param sentenceOf goes on after the rule's name
 * @throws {CliFailure} refused by a safety rule, where others forbid it
 */
export const mustPassRules = (
  { violations }: Pick<OrderEffects, "violations">,
  passed: string | undefined,
  sentenceOf: (detail: string) => string,
): void => {
  const named = passed?.split(",") ?? [];
  const forbidding = violations.filter(({ rule }) => !named.includes(rule));
  if (forbidding.length === 0) return;
  const sentences = forbidding.map(({ rule, detail }) => `the safety rule ${rule} refuses ${sentenceOf(detail)}`);
  const rules = [...new Set(violations.map(({ rule }) => `--override-rule ${rule}`))];
  throw new CliFailure(
    EXIT.refusedBySafetyRule,
    `${sentences.join("; ")}. ${rules.join(" ")} ${rules.length === 1 ? "does" : "do"} it all the same.`,
  );
};
