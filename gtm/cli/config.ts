/** `gtm config show|diff|reload`: what a running GTM is configured with, and what another file would change. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { ConfigOutcome, ConfigView } from "#gtm/wire/admin/config-view.ts";
import { Instances } from "#gtm/wire/admin/routes/instances.ts";
import { apiCommand, type Invocation, invocationOf, printOne, understood } from "./api-command.ts";
import { configText, instanceDiffText, outcomeText } from "./config-text.ts";
import { mustAgree, mustBeInteractive } from "./consent.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

export const configCommand = (io: CliIo): Command =>
  new Command("config")
    .description("what a running GTM is configured with")
    .addCommand(showCommand(io))
    .addCommand(diffCommand(io))
    .addCommand(reloadCommand(io));

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "the configuration that stands, with hashes, what waits for a restart, and the file's faults", [
    "config show",
    "config show policy",
    "config show -o json",
  ])
    .argument("[section]", "print this section whole, such as pools")
    .action(async (section: string | undefined, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: "/config" });
      const known = understood(ConfigView, body).sections.map(({ name }) => name);
      if (section !== undefined && !known.includes(section)) {
        throw new CliFailure(EXIT.usage, `there is no section ${section}: expected one of ${known.join(", ")}`);
      }
      printOne(invocation, body, ConfigView, (config) => configText(config, section ?? null, io.isColourful));
    });

const diffCommand = (io: CliIo): Command =>
  apiCommand(
    "diff",
    "what a file would change in the running GTM (exit 1 where it is faulty); without a file, in which parts the other GTMs differ (exit 7 where they do)",
    ["config diff --file /etc/llm-gtm/gtm.yaml", "config diff"],
  )
    .option("--file <file>", "a configuration on this host; its variables are those of the GTM")
    .action(async ({ file }: { file?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      await (file === undefined ? diffOfInstances(invocation) : diffOfFile(invocation, file));
    });

const diffOfFile = async (invocation: Invocation, file: string): Promise<void> => {
  const { io, client } = invocation;
  const { body } = await client.call({ method: "POST", path: "/config/check", body: { yaml: textOf(file) } });
  printOne(invocation, body, ConfigOutcome, (outcome) => outcomeText(outcome, io.isColourful));
  const { faults } = understood(ConfigOutcome, body);
  if (faults.length > 0) throw new CliFailure(EXIT.error, `${file} cannot be used (${faults.length} faults)`);
};

const diffOfInstances = async (invocation: Invocation): Promise<void> => {
  const { io, client } = invocation;
  const { body } = await client.call({ method: "GET", path: "/instances" });
  printOne(invocation, body, Instances, (found) => instanceDiffText(found, io.isColourful));
  const differing = understood(Instances, body).others.filter(({ configDiffers }) => configDiffers.length > 0);
  if (differing.length > 0) throw new CliFailure(EXIT.problemsFound, "");
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CliFailure(
      EXIT.error,
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
};

type ReloadWishes = { readonly dryRun?: boolean; readonly yes?: boolean; readonly comment?: string };

const reloadCommand = (io: CliIo): Command =>
  apiCommand("reload", "have the GTM read its file again, as SIGHUP does (exit 5 where it is refused)", [
    "config reload --dry-run",
    'config reload --comment "us-west is up" --yes',
  ])
    .option("--dry-run", "show what would change, and change nothing")
    .option("--yes", "do not ask")
    .option("--comment <text>", "why, for the audit")
    .action(async (wishes: ReloadWishes, command: Command) => {
      const invocation = invocationOf(command, io);
      const ask = (dryRun: boolean) =>
        invocation.client.call({
          method: "POST",
          path: "/config/reload",
          query: { dry_run: dryRun ? "true" : undefined },
          body: wishes.comment === undefined ? {} : { comment: wishes.comment },
        });
      const print = (body: unknown): void =>
        printOne(invocation, body, ConfigOutcome, (outcome) => outcomeText(outcome, io.isColourful));
      if (wishes.dryRun === true) return print((await ask(true)).body);
      if (wishes.yes !== true) {
        mustBeInteractive(io, "a reload");
        io.tell(outcomeText(understood(ConfigOutcome, (await ask(true)).body), io.isColourful));
        await mustAgree(io, "Read the file again?");
      }
      const { body } = await ask(false);
      print(body);
      io.tell(`${understood(ConfigOutcome, body).outcome}.\n`);
    });
