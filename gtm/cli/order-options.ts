/** Options that several orders have. */
import { InvalidArgumentError, Option } from "commander";
import { PACES } from "#gtm/wire/admin/drain-pacing.ts";
import { RULES } from "#gtm/wire/admin/safety-rules.ts";
import { duration } from "#shared/units.ts";

/** With commas between them, as the API takes them. */
export const overrideRuleOption = (): Option =>
  new Option(
    "--override-rule <rule>",
    `do it although this safety rule forbids it: ${RULES.join(", ")}; may be said several times`,
  ).argParser(addedRule);

const addedRule = (text: string, before: string | undefined): string => {
  const unknown = text.split(",").find((one) => !RULES.some((rule) => rule === one));
  if (unknown === undefined) return before === undefined ? text : `${before},${text}`;
  throw new InvalidArgumentError(`Allowed choices are ${RULES.join(", ")}.`);
};

/** Checked here so that a slip is a usage error before anybody is asked; the API gets the text. */
export const aDuration = (text: string): string => {
  if (duration.safeParse(text).success) return text;
  throw new InvalidArgumentError("It must be a duration with its unit, such as 30m or 2h.");
};

export const overOption = (): Option =>
  new Option(
    "--over <duration>",
    "drain-all: by when all have left, the cheapest first; else each at its next turn",
  ).argParser(aDuration);

export const paceOption = (): Option =>
  new Option(
    "--pace <pace>",
    "with --over: spare, as fast as the others' spare prefill allows (default), or even, over the whole time",
  ).choices(PACES);

export const planIdOption = (): Option =>
  new Option("--plan-id <id>", "only while the plan of this id, of a --dry-run, still holds");

export const shareOption = (description: string): Option =>
  new Option("--share <fraction>", description).argParser(aShare);

const aShare = (text: string): number => {
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError("It must be a number from 0 to 1, such as 0.2.");
};

/** The parameter that makes a call look only. */
export const dryRunOf = (dryRun: true | undefined): Readonly<Record<string, string>> =>
  dryRun === true ? { dry_run: "true" } : {};
