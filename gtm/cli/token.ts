/** `gtm token create|list|show|extend|revoke`: who may use the admin API. */
import { Command, Option } from "commander";
import { TokenRevoked } from "#gtm/wire/admin/routes/tokens.ts";
import { TokenView } from "#gtm/wire/admin/token-view.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, tellMore, understood } from "./api-command.ts";
import { mustAgree, mustBeInteractive } from "./consent.ts";
import { aLimit } from "./decisions.ts";
import type { CliIo } from "./io.ts";
import { aDuration, dryRunOf } from "./order-options.ts";
import { facts } from "./table.ts";
import { createCommand } from "./token-create.ts";
import { tokenFacts, tokenTable } from "./token-table.ts";

export const tokenCommand = (io: CliIo): Command =>
  new Command("token")
    .description("tokens of the admin API")
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(extendCommand(io))
    .addCommand(revokeCommand(io));

const listCommand = (io: CliIo): Command =>
  apiCommand("list", "who has a token: made by the API, newest first, then those of the file", [
    "token list",
    "token list -o jsonl",
  ])
    .option("--limit <n>", "how many, at most 500", aLimit, 100)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async ({ limit, cursor }: { limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const query = { limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path: "/tokens", query });
      printMany(invocation, body, TokenView, tokenTable);
      if (invocation.format === "table") tellMore(invocation, body);
    });

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "one token", ["token show tk-9f86d081884c7d65"])
    .argument("<id>", "its id, as `token list` has it")
    .action(async (id: string, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: pathOf(id) });
      printOne(invocation, body, TokenView, (one) => facts(tokenFacts(one)));
    });

const extendCommand = (io: CliIo): Command =>
  apiCommand("extend", "let a token stand so long from now", ["token extend tk-9f86d081884c7d65 --for 30d"])
    .argument("<id>", "its id")
    .addOption(
      new Option("--for <duration>", "how long from now, such as 12h or 30d")
        .argParser(aDuration)
        .makeOptionMandatory(),
    )
    .option("--comment <text>", "what it is for")
    .option("--dry-run", "show it as it would be, change nothing")
    .action(async (id: string, options: ExtendWishes, command: Command) => {
      const invocation = invocationOf(command, io);
      const { for: lasting, comment, dryRun } = options;
      const call = { method: "PATCH", path: pathOf(id), body: { for: lasting, comment } } as const;
      const answer = await invocation.client.call({ ...call, query: dryRunOf(dryRun) });
      printOne(invocation, answer.body, TokenView, (one) => facts(tokenFacts(one)));
    });

type ExtendWishes = { readonly for: string; readonly comment?: string; readonly dryRun?: true };

const revokeCommand = (io: CliIo): Command =>
  apiCommand("revoke", "take a token away: it opens nothing any more, at any GTM of the store", [
    "token revoke tk-9f86d081884c7d65",
    "token revoke tk-9f86d081884c7d65 --with-made --yes",
  ])
    .argument("<id>", "its id")
    .option("--with-made", "the tokens that were made with it, too: for one that fell into wrong hands")
    .option("--dry-run", "say which would be revoked, revoke none")
    .option("--yes", "do not ask")
    .action(async (id: string, { withMade, dryRun, yes }: RevokeWishes, command: Command) => {
      const invocation = invocationOf(command, io);
      const etag = yes === true || dryRun === true ? null : await agreed(invocation, id);
      const query = { ...(withMade === true ? { with_made: "true" } : {}), ...dryRunOf(dryRun) };
      const ifMatch = etag === null ? {} : { ifMatch: etag };
      const { body } = await invocation.client.call({ method: "DELETE", path: pathOf(id), query, ...ifMatch });
      printOne(invocation, body, TokenRevoked, (one) =>
        [one.id, ...one.alsoRevoked]
          .map((each) => `${each}: ${one.revoked ? "revoked" : "would be revoked"}\n`)
          .join(""),
      );
    });

type RevokeWishes = { readonly withMade?: true; readonly dryRun?: true; readonly yes?: true };

/** @returns the ETag of what was shown, so that nothing else is revoked than what was agreed to */
const agreed = async ({ client, io }: Invocation, id: string): Promise<string | null> => {
  mustBeInteractive(io, `revoke ${id}`);
  const { body, etag } = await client.call({ method: "GET", path: pathOf(id) });
  io.tell(facts(tokenFacts(understood(TokenView, body))));
  await mustAgree(io, "Revoke it?");
  return etag;
};

const pathOf = (id: string): string => `/tokens/${encodeURIComponent(id)}`;
