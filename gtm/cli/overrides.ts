/** `gtm overrides add` and `gtm force`: orders about some traffic, each with a reason and an end. */
import { Command, Option } from "commander";
import { OverridePlan } from "#gtm/wire/admin/override-body.ts";
import { KINDS, OverrideView } from "#gtm/wire/admin/override-view.ts";
import { apiCommand, type Invocation, invocationOf, printOne, understood } from "./api-command.ts";
import { mustAgree, mustBeInteractive, mustPassRules } from "./consent.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { aDuration, overOption, overrideRuleOption, paceOption, planIdOption, shareOption } from "./order-options.ts";
import { overrideLine } from "./override-table.ts";
import { cancelCommand, extendCommand, listOverridesCommand, shareCommand, showCommand } from "./overrides-standing.ts";
import { overridePlanText, planIdText } from "./plan-text.ts";

export const overridesCommand = (io: CliIo): Command =>
  new Command("overrides")
    .description("orders about some traffic: deny a region, force one, drain one, or let one have a share at most")
    .addCommand(listOverridesCommand(io))
    .addCommand(showCommand(io))
    .addCommand(addCommand(io))
    .addCommand(extendCommand(io))
    .addCommand(shareCommand(io))
    .addCommand(cancelCommand(io));

export type OverrideWishes = {
  readonly kind: string;
  readonly region: string;
  readonly pool?: string;
  readonly model?: string;
  readonly tenant?: string;
  readonly share?: number;
  readonly comment: string;
  readonly for: string;
  readonly over?: string;
  readonly pace?: string;
  readonly planId?: string;
  readonly overrideRule?: string;
  readonly dryRun?: true;
  readonly yes?: true;
};

const trafficOptions = (command: Command): Command =>
  command
    .option("--pool <glob>", "only this pool; * matches any run of characters")
    .option("--model <glob>", "only this model")
    .option("--tenant <glob>", "only this tenant")
    .requiredOption("--comment <text>", "why, for whoever is on call next")
    .addOption(
      new Option("--for <duration>", "how long it stands, such as 2h, at most 72h")
        .argParser(aDuration)
        .makeOptionMandatory(),
    )
    .addOption(overrideRuleOption())
    .addOption(planIdOption())
    .option("--dry-run", "print what would change, change nothing")
    .option("--yes", "do not ask");

const addCommand = (io: CliIo): Command =>
  trafficOptions(
    apiCommand("add", "give an order about some traffic", [
      'overrides add --kind deny --region us-east --tenant acme --comment "contract" --for 8h',
      'overrides add --kind drain-new --region eu-central --model "llama*" --comment "new weights" --for 2h --dry-run',
      'overrides add --kind share --share 0.2 --region eu-central --comment "gentle return" --for 2h',
    ])
      .addOption(new Option("--kind <kind>", "what it does to the region").choices(KINDS).makeOptionMandatory())
      .addOption(shareOption("with --kind share: how much of what is placed anew goes there at most, from 0 to 1"))
      .addOption(overOption())
      .addOption(paceOption())
      .requiredOption("--region <glob>", "the region, or several by a glob"),
  ).action(async (options: OverrideWishes, command: Command) => {
    if ((options.kind === "share") !== (options.share !== undefined)) {
      throw new CliFailure(EXIT.usage, "--kind share needs --share, and no other kind takes it");
    }
    await giveOverride(invocationOf(command, io), options);
  });

export const forceCommand = (io: CliIo): Command =>
  trafficOptions(
    apiCommand("force", "send some traffic to one region, whatever it costs", [
      'force eu-central --tenant acme --comment "test of the new gateway" --for 1h',
    ]).argument("<region>", "the region, or several by a glob"),
  ).action(async (region: string, options: Omit<OverrideWishes, "kind" | "region">, command: Command) => {
    await giveOverride(invocationOf(command, io), { ...options, region, kind: "force" });
  });

/** @returns the override; null: it was only previewed */
export const giveOverride = async (invocation: Invocation, wishes: OverrideWishes): Promise<OverrideView | null> => {
  const { client, io } = invocation;
  const {
    kind,
    share,
    region,
    pool,
    model,
    tenant,
    comment,
    for: lasting,
    over,
    pace,
    overrideRule,
    dryRun,
    yes,
  } = wishes;
  let planId = wishes.planId;
  const call = {
    method: "POST",
    path: "/overrides",
    body: { kind, share, region, pool, model, tenant, comment, for: lasting, over, pace },
  } as const;
  if (dryRun === true || yes !== true) {
    if (dryRun !== true) mustBeInteractive(io, `${kind} ${region}, or --dry-run to see what it would change`);
    const { body } = await client.call({ ...call, query: { dry_run: "true", plan_id: planId } });
    const plan = understood(OverridePlan, body);
    if (dryRun === true)
      printOne(invocation, body, OverridePlan, (one) => overridePlanText(one, io.isColourful) + planIdText(one));
    else io.tell(overridePlanText(plan, false));
    mustPassRules(plan, overrideRule, (detail) => `to ${kind} ${region}: ${detail}`);
    if (dryRun === true) return null;
    await mustAgree(io, `${kind} ${region}?`);
    planId ??= plan.planId;
  }
  const { body } = await client.call({ ...call, query: { override_rule: overrideRule, plan_id: planId } });
  printOne(invocation, body, OverrideView, overrideLine);
  const given = understood(OverrideView, body);
  io.tell(`\`gtm overrides cancel ${given.id}\` takes it back.\n`);
  return given;
};
