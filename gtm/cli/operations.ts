/** `gtm operations list|show|watch|cancel`: drains that go on, and how they ended. */
import { Command, Option } from "commander";
import { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { duration } from "#shared/units.ts";
import { apiCommand, invocationOf, printMany, printOne } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { operationTable, operationText } from "./operation-text.ts";
import { aDuration } from "./order-options.ts";
import { type DoingWishes, doIt, withDoingOptions } from "./override-doing.ts";
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
      printMany(invocation, body, OperationView, operationTable);
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
  withDoingOptions(
    apiCommand("cancel", "take back the order that a drain carries out", [
      "operations cancel 01KB8Y… --yes",
      "operations cancel 01KB8Y… --dry-run",
    ])
      .argument("<id>", "its id")
      .option("--comment <text>", "why, for the audit"),
  ).action(async (id: string, { comment, ...wishes }: DoingWishes & { comment?: string }, command: Command) => {
    const invocation = invocationOf(command, io);
    const path = operationPath(id);
    const call = { method: "POST", path: `${path}/cancel`, body: { comment } } as const;
    const body = await doIt(invocation, { call, path, what: `cancel ${id}` }, wishes);
    if (body !== null) printOne(invocation, body, OperationView, operationText);
  });
