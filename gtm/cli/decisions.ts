/** `gtm decisions list|show|tail`: what was decided, and why. */
import { Command, InvalidArgumentError, Option } from "commander";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, tellMore } from "./api-command.ts";
import { decisionTable } from "./decision-table.ts";
import { decisionText } from "./decision-text.ts";
import type { CliIo } from "./io.ts";
import { tail } from "./tail.ts";

export type DecisionFilters = {
  readonly pool?: string;
  readonly region?: string;
  readonly verdict?: string;
  readonly channel?: string;
  readonly conversation?: string;
};

export const decisionsCommand = (io: CliIo): Command =>
  new Command("decisions")
    .description("what was decided, and why")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(tailCommand(io));

export const filtered = (command: Command): Command =>
  command
    .option("--pool <pool>", "only of this pool")
    .option("--region <region>", "only where this region was chosen")
    .addOption(
      new Option("--verdict <verdict>", "only with this verdict").choices([
        "pinned",
        "placed",
        "migrated",
        "displaced",
        "unserved",
      ]),
    )
    .addOption(new Option("--channel <channel>", "only what was asked this way").choices(["http", "dns"]))
    .option("--conversation <label>", "only of this conversation, by label or id");

export const filtersOf = ({ pool, region, verdict, channel, conversation }: DecisionFilters) => ({
  pool,
  region,
  verdict,
  channel,
  conversation,
});

const listCommand = (io: CliIo): Command =>
  filtered(
    apiCommand("list", "list the latest decisions of this GTM, newest first", [
      "decisions list --verdict migrated",
      "decisions list --conversation 4q8t1v7k0c2me -o jsonl",
    ]),
  )
    .option("--limit <n>", "how many, at most 500", aLimit, 20)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (options: DecisionFilters & { limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const query = { ...filtersOf(options), limit: String(options.limit), cursor: options.cursor };
      const { body } = await invocation.client.call({ method: "GET", path: "/decisions", query });
      printMany(invocation, body, DecisionSchema, decisionTable);
      if (invocation.format === "table") tellMore(invocation, body);
    });

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "show one decision: every region's cost, why, what would flip it", [
    "decisions show 01K5Z6V2QW8Y3N4M7R9T0A1B2C",
  ])
    .argument("<id>", "as the answer's header, the log and the list name it")
    .action(async (id: string, _options: unknown, command: Command) => {
      await showDecision(invocationOf(command, io), id);
    });

export const showDecision = async (invocation: Invocation, id: string): Promise<void> => {
  const { body } = await invocation.client.call({ method: "GET", path: `/decisions/${encodeURIComponent(id)}` });
  printOne(invocation, body, DecisionSchema, (decision) => decisionText(decision, invocation.io.isColourful));
};

const tailCommand = (io: CliIo): Command =>
  filtered(
    apiCommand("tail", "print decisions as they are made, until interrupted", [
      "decisions tail",
      "decisions tail --close",
      "decisions tail --verdict migrated -o jsonl",
      "decisions tail --count 10",
    ]),
  )
    .option("--close", "only close calls: the lead over the runner-up is below the margin")
    .option("--count <n>", "stop after so many", aLimit)
    .action(async (options: DecisionFilters & { close?: true; count?: number }, command: Command) => {
      const { close, count } = options;
      const wish = { filters: filtersOf(options), isCloseOnly: close === true, most: count ?? null };
      await tail(invocationOf(command, io), wish);
    });

export const aLimit = (text: string): number => {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
};
