/** `gtm drain`, `undrain`, `down`, `up`. */
import { type Command, Option } from "commander";
import { duration } from "#shared/units.ts";
import { apiCommand, type Invocation, invocationOf } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { aDuration, overOption, overrideRuleOption, paceOption, planIdOption } from "./order-options.ts";
import { giveOverride } from "./overrides.ts";
import { giveOrder, type OrderManner, type RegionOrder } from "./region-order.ts";
import { waitUntilDone } from "./wait.ts";

type Wishes = OrderManner & {
  readonly comment?: string;
  readonly for?: string;
  readonly overrideRule?: string;
  readonly planId?: string;
};

const orderCommand = (name: string, description: string, examples: readonly string[]): Command =>
  apiCommand(name, description, examples)
    .argument("<region>", "the region it is about")
    .option("--dry-run", "print what would change, change nothing")
    .option("--yes", "do not ask");

const untilOption = (): Option =>
  new Option("--for <duration>", "how long the order stands, such as 2h, at most 72h; else until taken back").argParser(
    aDuration,
  );

type DrainWishes = Wishes & {
  readonly mode: "drain-new" | "drain-all";
  readonly over?: string;
  readonly pace?: string;
  readonly wait?: string;
  readonly pool?: string;
  readonly model?: string;
  readonly tenant?: string;
  readonly comment: string;
};

export const drainCommand = (io: CliIo): Command =>
  orderCommand("drain", "let a region take no new conversations, or let all of them leave", [
    'drain eu-central --mode drain-new --comment "driver update" --for 2h',
    'drain eu-central --mode drain-all --over 10m --comment "driver update" --dry-run',
    'drain eu-central --mode drain-all --over 10m --comment "driver update" --yes --wait 30m',
    'drain eu-central --mode drain-all --model "llama*" --comment "new weights" --for 2h',
  ])
    .addOption(
      new Option("--mode <mode>", "drain-new keeps the conversations it holds; drain-all moves them at their next turn")
        .choices(["drain-new", "drain-all"])
        .makeOptionMandatory(),
    )
    .requiredOption("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .addOption(overOption())
    .addOption(paceOption())
    .option("--pool <glob>", "only this pool: by an override, which needs --for")
    .option("--model <glob>", "only this model: by an override, which needs --for")
    .option("--tenant <glob>", "only this tenant: by an override, which needs --for")
    .addOption(overrideRuleOption())
    .addOption(planIdOption())
    .addOption(
      new Option("--wait [duration]", "wait until nothing is held there any more (drain-all)")
        .argParser(aDuration)
        .preset("10m"),
    )
    .action(async (region: string, options: DrainWishes, command: Command) => {
      const invocation = invocationOf(command, io);
      const { wait } = options;
      if (wait !== undefined && options.mode !== "drain-all") {
        throw new CliFailure(EXIT.usage, "--wait needs --mode drain-all: under drain-new conversations stay");
      }
      const operation = await drain(invocation, region, options);
      if (operation !== null && wait !== undefined) await waitUntilDone(invocation, operation, duration.parse(wait));
    });

/** A whole region by an order about it, some of its traffic by an override. @returns null: it was only previewed */
const drain = async (invocation: Invocation, region: string, options: DrainWishes): Promise<string | null> => {
  const { mode, comment, over, pace, for: lasting, pool, model, tenant } = options;
  if (pool === undefined && model === undefined && tenant === undefined) {
    const body = { mode, comment, for: lasting, over, pace };
    const ordered = await giveOrder(invocation, { verb: "drain", region, body, ...guardsOf(options) }, options);
    return ordered?.operation ?? null;
  }
  if (lasting === undefined) {
    throw new CliFailure(
      EXIT.usage,
      "--pool, --model and --tenant need --for: nothing about some traffic stands for ever",
    );
  }
  const given = await giveOverride(invocation, { ...options, kind: mode, region, for: lasting });
  return given?.id ?? null;
};

export const undrainCommand = (io: CliIo): Command =>
  orderCommand("undrain", "take a drain back", ["undrain eu-central", 'undrain eu-central --comment "updated" --yes'])
    .option("--comment <text>", "why, for the log")
    .addOption(overrideRuleOption())
    .action(async (region: string, options: Wishes, command: Command) => {
      const body = { comment: options.comment };
      await giveOrder(invocationOf(command, io), { verb: "undrain", region, body, ...guardsOf(options) }, options);
    });

export const downCommand = (io: CliIo): Command =>
  orderCommand("down", "let a region serve nothing, whatever monitoring says", [
    'down eu-central --comment "power failure" --yes',
    'down eu-central --comment "power failure" --dry-run',
  ])
    .requiredOption("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .addOption(overrideRuleOption())
    .addOption(planIdOption())
    .action(async (region: string, options: Wishes, command: Command) => {
      const body = { comment: options.comment, for: options.for };
      await giveOrder(invocationOf(command, io), { verb: "down", region, body, ...guardsOf(options) }, options);
    });

export const upCommand = (io: CliIo): Command =>
  orderCommand("up", "take `down` back; with --forced, keep a region in service whatever monitoring says", [
    "up eu-central --yes",
    'up eu-central --forced --comment "the probe is wrong" --for 1h',
  ])
    .option("--forced", "ignore monitoring; needs --comment")
    .option("--comment <text>", "why, for whoever is on call next")
    .addOption(untilOption())
    .addOption(overrideRuleOption())
    .action(async (region: string, options: Wishes & { forced?: true }, command: Command) => {
      const { forced, comment } = options;
      if (forced === true && comment === undefined)
        throw new CliFailure(EXIT.usage, "--forced needs --comment: say why");
      const body = { forced, comment, for: options.for };
      await giveOrder(invocationOf(command, io), { verb: "up", region, body, ...guardsOf(options) }, options);
    });

const guardsOf = ({ overrideRule, planId }: Wishes): Pick<RegionOrder, "overrideRule" | "planId"> => ({
  ...(overrideRule === undefined ? {} : { overrideRule }),
  ...(planId === undefined ? {} : { planId }),
});
