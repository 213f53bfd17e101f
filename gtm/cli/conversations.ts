/** `gtm conversations list|show|release`: where conversations are at home. */
import { Command } from "commander";
import { z } from "zod";
import { ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, tellMore } from "./api-command.ts";
import { mustAgree, mustBeInteractive } from "./consent.ts";
import { aLimit } from "./decisions.ts";
import type { CliIo } from "./io.ts";
import { age, count, UNKNOWN, yesNo } from "./quantity.ts";
import { facts, table } from "./table.ts";

export const conversationsCommand = (io: CliIo): Command =>
  new Command("conversations")
    .description("where conversations are at home")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(releaseCommand(io));

const listCommand = (io: CliIo): Command =>
  apiCommand("list", "list conversations by home", [
    "conversations list --region eu-central",
    "conversations list --limit 500 -o jsonl",
  ])
    .option("--region <region>", "only those at home there")
    .option("--limit <n>", "how many, at most 500", aLimit, 50)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (options: { region?: string; limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { region, limit, cursor } = options;
      const query = { region, limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path: "/conversations", query });
      printMany(invocation, body, ConversationView, (items) => conversationTable(items, io.isColourful));
      if (invocation.format === "table") tellMore(invocation, body);
    });

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "show one conversation: which regions hold how much of it", ["conversations show 4q8t1v7k0c2me"])
    .argument("<label>", "its label or id")
    .action(async (label: string, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: pathOf(label) });
      printOne(invocation, body, ConversationView, (one) => conversationText(one, io.isColourful));
    });

const releaseCommand = (io: CliIo): Command =>
  apiCommand("release", "forget where a conversation is at home, so that its next turn is placed anew", [
    "conversations release 4q8t1v7k0c2me",
  ])
    .argument("<label>", "its label or id")
    .option("--yes", "do not ask")
    .action(async (label: string, { yes }: { yes?: true }, command: Command) => {
      const invocation = invocationOf(command, io);
      const ifMatch = yes === true ? null : await confirmed(invocation, label);
      const { body } = await invocation.client.call({
        method: "DELETE",
        path: pathOf(label),
        ...(ifMatch === null ? {} : { ifMatch }),
      });
      printOne(invocation, body, z.looseObject({ id: z.string(), released: z.boolean() }), ({ id, released }) =>
        released ? `${id}: released\n` : `${id}: nothing was known of it\n`,
      );
    });

/** @returns the ETag of what was shown */
const confirmed = async ({ client, io }: Invocation, label: string): Promise<string | null> => {
  mustBeInteractive(io, `release ${label}`);
  const { body, etag } = await client.call({ method: "GET", path: pathOf(label) });
  io.tell(conversationText(ConversationView.parse(body), false));
  await mustAgree(io, "Forget where it is at home? Its context is computed again elsewhere, maybe.");
  return etag;
};

const pathOf = (label: string): string => `/conversations/${encodeURIComponent(label)}`;

const conversationTable = (items: readonly ConversationView[], isColourful: boolean): string =>
  table(
    [
      { header: "CONVERSATION" },
      { header: "HOME" },
      { header: "MODEL" },
      { header: "TOKENS", align: "right" },
      { header: "TURNS", align: "right" },
      { header: "IDLE", align: "right" },
      { header: "PINNED" },
      { header: "ALSO HELD IN" },
    ],
    items.map((one) => [
      one.id,
      one.home,
      one.model,
      count(one.contextTokens),
      count(one.turns),
      age(one.idleMs),
      yesNo(one.isPinned),
      one.holdings
        .slice(1)
        .map(({ region }) => region)
        .join(", ") || UNKNOWN,
    ]),
    isColourful,
  );

const conversationText = (one: ConversationView, isColourful: boolean): string => {
  const about = facts([
    ["conversation", one.id],
    ["home", one.home],
    ["model", one.model],
    ["context", `${count(one.contextTokens)} tokens`],
    ["turns", count(one.turns)],
    ["idle", `${age(one.idleMs)}, ${one.isPinned ? "pinned" : "no longer pinned"}`],
    ["refused by", one.refusedBy.length === 0 ? "none" : one.refusedBy.join(", ")],
  ]);
  const held = table(
    [
      { header: "HELD IN" },
      { header: "REPLICA" },
      { header: "TOKENS", align: "right" },
      { header: "SINCE", align: "right" },
    ],
    one.holdings.map(({ region, replica, tokens, ageMs }) => [region, replica ?? UNKNOWN, count(tokens), age(ageMs)]),
    isColourful,
  );
  return `${about}\n${held}`;
};
