/** `gtm acme list|present|cleanup`: challenges of certificate authorities, for whoever has no lego. */
import { Command } from "commander";
import { ChallengeView, CleanedUp, Presented } from "#gtm/wire/admin/routes/acme.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, tellMore } from "./api-command.ts";
import { aLimit } from "./decisions.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { dryRunOf } from "./order-options.ts";
import { age } from "./quantity.ts";
import { table } from "./table.ts";

export const acmeCommand = (io: CliIo): Command =>
  new Command("acme")
    .description("challenges of certificate authorities: TXT values at _acme-challenge names")
    .addCommand(listCommand(io))
    .addCommand(presentCommand(io))
    .addCommand(cleanupCommand(io));

const listCommand = (io: CliIo): Command =>
  apiCommand("list", "list the challenges that are answered now", ["acme list"])
    .option("--limit <n>", "how many names, at most 500", aLimit, 50)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async ({ limit, cursor }: { limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const query = { limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path: PATH, query });
      printMany(invocation, body, ChallengeView, (items) => challengeTable(items, io.isColourful));
      if (invocation.format === "table") tellMore(invocation, body);
    });

const presentCommand = (io: CliIo): Command =>
  apiCommand("present", "answer a challenge, for a while", [
    "acme present _acme-challenge.c.llm.example.com LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0",
  ])
    .argument("<name>", "_acme-challenge and the certificate's name, without *.")
    .argument("<value>", "what the authority asked for")
    .option("--for <duration>", "how long, at most 1h", "10m")
    .option("--dry-run", "say whether it could be answered, present nothing")
    .action(async (name: string, value: string, options: { for: string; dryRun?: true }, command: Command) => {
      const invocation = invocationOf(command, io);
      const wish = { name, value, for: options.for };
      const { body } = await invocation.client.call({
        ...{ method: "POST", path: PATH, body: wish },
        query: dryRunOf(options.dryRun),
      });
      printOne(
        invocation,
        body,
        Presented,
        (one) =>
          `${one.name}: ${one.isDryRun === true ? "would be answered" : "answered"} with ${one.value} for ${age(one.expiresInMs)}\n`,
      );
    });

const cleanupCommand = (io: CliIo): Command =>
  apiCommand("cleanup", "no longer answer a challenge, whoever presented it", [
    "acme cleanup _acme-challenge.c.llm.example.com LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0",
    "acme cleanup _acme-challenge.c.llm.example.com --yes",
  ])
    .argument("<name>", "as it was presented")
    .argument("[value]", "only this one; without it all of the name's")
    .option("--dry-run", "say how many there are, clean up none")
    .option("--yes", "do not ask, where all are meant")
    .action(async (name: string, value: string | undefined, { dryRun, yes }: CleanupWishes, command: Command) => {
      const invocation = invocationOf(command, io);
      if (value === undefined && yes !== true && dryRun !== true) await mustBeMeant(invocation, name);
      const path = `${PATH}/${encodeURIComponent(name)}`;
      const { body } = await invocation.client.call({ method: "DELETE", path, query: { value, ...dryRunOf(dryRun) } });
      printOne(invocation, body, CleanedUp, (one) =>
        one.values === 0
          ? `${one.name}: nothing was there\n`
          : `${one.name}: ${one.values} ${one.isDryRun === true ? "would be " : ""}cleaned up\n`,
      );
    });

type CleanupWishes = { readonly dryRun?: true; readonly yes?: true };

const PATH = "/acme-challenges";

const mustBeMeant = async ({ io }: Invocation, name: string): Promise<void> => {
  if (!io.isInteractive) {
    throw new CliFailure(EXIT.usage, `nobody is there to be asked (no terminal): add --yes to clean up all of ${name}`);
  }
  const answer = await io.ask(`Clean up all values of ${name}? An order that runs will fail. [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CliFailure(EXIT.error, "not confirmed; nothing was changed");
};

const challengeTable = (items: readonly ChallengeView[], isColourful: boolean): string =>
  table(
    [{ header: "NAME" }, { header: "VALUE" }, { header: "PRESENTED BY" }, { header: "ENDS IN", align: "right" }],
    items.flatMap(({ name, values }) =>
      values.map(({ value, actor, expiresInMs }) => [name, value, actor, age(expiresInMs)]),
    ),
    isColourful,
  );
