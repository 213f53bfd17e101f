/** `gtm overrides list|show|extend|share|cancel`: what stands about some traffic, what it does, and how it is changed. */
import { type Command, Option } from "commander";
import { KINDS, OverrideView } from "#gtm/wire/admin/override-view.ts";
import { Cancelled } from "#gtm/wire/admin/routes/overrides.ts";
import { apiCommand, invocationOf, printMany, printOne } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { aDuration, shareOption } from "./order-options.ts";
import { type DoingWishes, doIt, withDoingOptions } from "./override-doing.ts";
import { overrideLine, overrideTable, overrideText } from "./override-table.ts";

const NAMES = ["region", "pool", "model", "tenant"] as const;

type Filter = { readonly [Name in "kind" | (typeof NAMES)[number]]?: string };

export const listOverridesCommand = (io: CliIo): Command => {
  const command = apiCommand("list", "list what stands, and what it did in the last minute", [
    "overrides list",
    "overrides list --region eu-central --kind share",
  ]).addOption(new Option("--kind <kind>", "only such").choices(KINDS));
  for (const name of NAMES) command.option(`--${name} <name>`, `only what is about this ${name}`);
  return command.action(async (options: Filter, self: Command) => {
    const invocation = invocationOf(self, io);
    const { kind, region, pool, model, tenant } = options;
    const query = { kind, region, pool, model, tenant };
    const { body } = await invocation.client.call({ method: "GET", path: "/overrides", query });
    printMany(invocation, body, OverrideView, overrideTable);
  });
};

export const showCommand = (io: CliIo): Command =>
  apiCommand("show", "show one, and what it did in the last minute", ["overrides show 01KB8Y…"])
    .argument("<id>", "its id")
    .action(async (id: string, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: pathOf(id) });
      printOne(invocation, body, OverrideView, overrideText);
    });

const forOption = (): Option =>
  new Option("--for <duration>", "how long from now, such as 2h, at most 72h").argParser(aDuration);

export const extendCommand = (io: CliIo): Command =>
  changeCommand(io, "extend", "let an override stand so long from now", [
    "overrides extend 01KB8Y… --for 4h",
  ]).addOption(forOption().makeOptionMandatory());

export const shareCommand = (io: CliIo): Command =>
  changeCommand(io, "share", "give a share another size; raising it moves nobody", [
    "overrides share 01KB8Y… --share 0.5",
  ])
    .addOption(shareOption("how much of what is placed anew goes there at most, from 0 to 1").makeOptionMandatory())
    .addOption(forOption());

type Change = DoingWishes & { readonly for?: string; readonly share?: number; readonly comment?: string };

const changeCommand = (io: CliIo, name: string, description: string, examples: readonly string[]): Command =>
  withDoingOptions(
    apiCommand(name, description, examples).argument("<id>", "its id").option("--comment <text>", "another reason"),
  ).action(async (id: string, { for: lasting, share, comment, ...wishes }: Change, command: Command) => {
    const invocation = invocationOf(command, io);
    const path = pathOf(id);
    const call = { method: "PATCH", path, body: { for: lasting, share, comment } } as const;
    const body = await doIt(invocation, { call, path, what: `${name} ${id}` }, wishes);
    if (body !== null) printOne(invocation, body, OverrideView, overrideLine);
  });

export const cancelCommand = (io: CliIo): Command =>
  withDoingOptions(
    apiCommand("cancel", "take an override back", ["overrides cancel 01KB8Y…", "overrides cancel 01KB8Y… --dry-run"])
      .argument("<id>", "its id")
      .option("--comment <text>", "why, for whoever is on call next"),
  ).action(async (id: string, { comment, ...wishes }: DoingWishes & { comment?: string }, command: Command) => {
    const invocation = invocationOf(command, io);
    const path = pathOf(id);
    const call = { method: "DELETE", path, query: { comment } } as const;
    const body = await doIt(invocation, { call, path, what: `cancel ${id}` }, wishes);
    if (body === null) return;
    printOne(invocation, body, Cancelled, (one) => `${one.id}: ${one.cancelled ? "cancelled" : "stood no more"}\n`);
  });

const pathOf = (id: string): string => `/overrides/${encodeURIComponent(id)}`;
