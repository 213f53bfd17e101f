/** `gtm operations list|show|watch|cancel`: drains that go on, and how they ended. */
import { Command, Option } from "commander";
import { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { duration } from "#shared/units.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, understood } from "./api-command.ts";
import { mustAgree, mustBeInteractive } from "./consent.ts";
import type { CliIo } from "./io.ts";
import { operationTable, operationText } from "./operation-text.ts";
import { aDuration, overrideRuleOption } from "./order-options.ts";
import { operationPath, waitUntilDone } from "./wait.ts";

export const operationsCommand = (io: CliIo): Command =>
  new Command("operations")
    .description("drains that go on: what is left, when they may be done, how they ended")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(watchCommand(io))
    .addCommand(cancelCommand(io));

const STATES = ["running", "verified-empty", "cancelled", "expired", "superseded"] as const;

const listCommand = (io: CliIo): Command =>
  apiCommand("list", "list drains, the newest first", ["operations list", "operations list --state running -o jsonl"])
    .addOption(new Option("--state <state>", "only those that are so").choices(STATES))
    .option("--region <region>", "only of this region")
    .action(async ({ state, region }: { state?: string; region?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: "/operations", query: { state, region } });
      printMany(invocation, body, OperationView, (items) => operationTable(items, io.isColourful));
    });

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "show one", ["operations show 01KB8Y…"])
    .argument("<id>", "its id")
    .action(async (id: string, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: operationPath(id) });
      printOne(invocation, body, OperationView, operationText);
    });

const watchCommand = (io: CliIo): Command =>
  apiCommand("watch", "tell of its progress until nothing is held there any more", [
    "operations watch 01KB8Y… --for 30m",
  ])
    .argument("<id>", "its id")
    .addOption(new Option("--for <duration>", "how long at most").argParser(aDuration).default("1h"))
    .action(async (id: string, { for: most }: { for: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const ended = await waitUntilDone(invocation, id, duration.parse(most));
      printOne(invocation, ended, OperationView, operationText);
    });

const cancelCommand = (io: CliIo): Command =>
  apiCommand("cancel", "take back the order that a drain carries out", ["operations cancel 01KB8Y… --yes"])
    .argument("<id>", "its id")
    .option("--comment <text>", "why, for the audit")
    .addOption(overrideRuleOption())
    .option("--yes", "do not ask")
    .action(async (id: string, options: CancelWishes, command: Command) => {
      const { comment, overrideRule, yes } = options;
      const invocation = invocationOf(command, io);
      const etag = yes === true ? null : await shown(invocation, id);
      const { body } = await invocation.client.call({
        ...{ method: "POST", path: `${operationPath(id)}/cancel`, body: { comment } },
        query: { override_rule: overrideRule },
        ...(etag === null ? {} : { ifMatch: etag }),
      });
      printOne(invocation, body, OperationView, operationText);
    });

type CancelWishes = { readonly comment?: string; readonly overrideRule?: string; readonly yes?: true };

/** @returns the ETag of what was shown, so that nothing else is taken back than what was agreed to */
const shown = async ({ client, io }: Invocation, id: string): Promise<string | null> => {
  mustBeInteractive(io, `cancel ${id}`);
  const { body, etag } = await client.call({ method: "GET", path: operationPath(id) });
  io.tell(operationText(understood(OperationView, body)));
  await mustAgree(io, "Take it back?");
  return etag;
};
