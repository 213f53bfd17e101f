/** `gtm drain`, `undrain`, `down`, `up`. */
import { type Command, Option } from "commander";
import { duration } from "#shared/units.ts";
import { apiCommand, invocationOf } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { aDuration, overrideRuleOption } from "./order-options.ts";
import { giveOrder, type OrderManner } from "./region-order.ts";
import { waitUntilLeft } from "./wait.ts";

type Wishes = OrderManner & { readonly comment?: string; readonly for?: string; readonly overrideRule?: string };

const orderCommand = (name: string, description: string, examples: readonly string[]): Command =>
  apiCommand(name, description, examples)
    .argument("<region>", "the region it is about")
    .option("--dry-run", "print what would change, change nothing")
    .option("--yes", "do not ask");

const untilOption = (): Option =>
  new Option("--for <duration>", "how long the order stands, such as 2h, at most 72h; else until taken back").argParser(
    aDuration,
  );

export const drainCommand = (io: CliIo): Command =>
  orderCommand("drain", "let a region take no new conversations, or let all of them leave", [
    'drain eu-central --mode drain-new --comment "driver update" --for 2h',
    'drain eu-central --mode drain-all --comment "driver update" --dry-run',
    'drain eu-central --mode drain-all --comment "driver update" --yes --wait 15m',
  ])
    .addOption(
      new Option("--mode <mode>", "drain-new keeps the conversations it holds; drain-all moves them at their next turn")
        .choices(["drain-new", "drain-all"])
        .makeOptionMandatory(),
    )
    .requiredOption("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .addOption(overrideRuleOption())
    .addOption(
      new Option("--wait [duration]", "wait until no pinned conversation is left at home there (drain-all)")
        .argParser(aDuration)
        .preset("10m"),
    )
    .action(async (region: string, options: Wishes & { mode: string; wait?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { mode, comment, wait } = options;
      if (wait !== undefined && mode !== "drain-all") {
        throw new CliFailure(EXIT.usage, "--wait needs --mode drain-all: under drain-new conversations stay");
      }
      const body = { mode, comment, for: options.for };
      const isGiven = await giveOrder(invocation, { verb: "drain", region, body, ...ruleOf(options) }, options);
      if (isGiven && wait !== undefined)
        await waitUntilLeft(invocation, { verb: "drain", region, body }, duration.parse(wait));
    });

export const undrainCommand = (io: CliIo): Command =>
  orderCommand("undrain", "take a drain back", ["undrain eu-central", 'undrain eu-central --comment "updated" --yes'])
    .option("--comment <text>", "why, for the log")
    .action(async (region: string, options: Wishes, command: Command) => {
      const body = { comment: options.comment };
      await giveOrder(invocationOf(command, io), { verb: "undrain", region, body }, options);
    });

export const downCommand = (io: CliIo): Command =>
  orderCommand("down", "let a region serve nothing, whatever monitoring says", [
    'down eu-central --comment "power failure" --yes',
    'down eu-central --comment "power failure" --dry-run',
  ])
    .requiredOption("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .addOption(overrideRuleOption())
    .action(async (region: string, options: Wishes, command: Command) => {
      const body = { comment: options.comment, for: options.for };
      await giveOrder(invocationOf(command, io), { verb: "down", region, body, ...ruleOf(options) }, options);
    });

export const upCommand = (io: CliIo): Command =>
  orderCommand("up", "take `down` back; with --forced, keep a region in service whatever monitoring says", [
    "up eu-central --yes",
    'up eu-central --forced --comment "the probe is wrong" --for 1h',
  ])
    .option("--forced", "ignore monitoring; needs --comment")
    .option("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .action(async (region: string, options: Wishes & { forced?: true }, command: Command) => {
      const { forced, comment } = options;
      if (forced === true && comment === undefined)
        throw new CliFailure(EXIT.usage, "--forced needs --comment: say why");
      const body = { forced, comment, for: options.for };
      await giveOrder(invocationOf(command, io), { verb: "up", region, body }, options);
    });

const ruleOf = ({ overrideRule }: Wishes): { overrideRule?: string } =>
  overrideRule === undefined ? {} : { overrideRule };
