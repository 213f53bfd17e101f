/** `gtm conversations list|show|move|release`: where conversations are at home. */
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { CONVERSATION_SORTS } from "#gtm/domain/conversation-query.ts";
import { MovePlan, ReleasePlan } from "#gtm/wire/admin/conversation-plan.ts";
import { ConversationDetail, ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, tellMore, understood } from "./api-command.ts";
import { mustAgree, mustBeInteractive } from "./consent.ts";
import { conversationTable, conversationText, moveText, releaseText } from "./conversation-text.ts";
import { aLimit } from "./decisions.ts";
import type { CliIo } from "./io.ts";
import { aDuration, dryRunOf } from "./order-options.ts";

export const conversationsCommand = (io: CliIo): Command =>
  new Command("conversations")
    .description("where conversations are at home")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(moveCommand(io))
    .addCommand(releaseCommand(io));

type Filters = Readonly<Partial<Record<"region" | "model" | "pool" | "tenant" | "minTokens" | "idle", string>>>;

const listCommand = (io: CliIo): Command =>
  apiCommand("list", "list conversations by home, under a filter, in an order", [
    "conversations list --region eu-central",
    "conversations list --sort tokens --min-tokens 10000 --limit 20",
    "conversations list --idle 30m --sort idle -o jsonl",
  ])
    .option("--region <region>", "only those at home there")
    .option("--model <model>", "only of this model, by id or alias")
    .option("--pool <pool>", "only of this pool")
    .option("--tenant <tenant>", "only of this tenant (one tenant in 65 536 looks the same)")
    .option("--min-tokens <n>", "only those with so much context", aTokenCount)
    .option("--idle <duration>", "only those without a turn for so long, such as 30m", aDuration)
    .addOption(
      new Option("--sort <order>", "latest turn, longest idle, largest context, or home first")
        .choices(CONVERSATION_SORTS)
        .default("recent"),
    )
    .option("--limit <n>", "how many, at most 500", aLimit, 50)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (options: Filters & { sort: string; limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { minTokens, limit, cursor, sort, region, model, pool, tenant, idle } = options;
      const query = { region, model, pool, tenant, min_tokens: minTokens, idle, sort };
      const body = await filled(invocation, query, limit, cursor);
      printMany(invocation, body, ConversationView, conversationTable);
      if (invocation.format === "table") tellMore(invocation, body);
    });

const Page = z.looseObject({ items: z.array(z.unknown()), next_cursor: z.string().nullable(), examined: z.int() });
type Page = z.infer<typeof Page>;

/** Where few pass the filter one answer holds fewer than asked for: it is asked on until there are as many, or no more. */
const filled = async (
  invocation: Invocation,
  query: Readonly<Record<string, string | undefined>>,
  limit: number,
  from: string | undefined,
): Promise<Page> => {
  const ask = async (most: number, cursor: string | undefined): Promise<Page> => {
    const call = { method: "GET", path: "/conversations", query: { ...query, limit: String(most), cursor } } as const;
    return understood(Page, (await invocation.client.call(call)).body);
  };
  let page = await ask(limit, from);
  while (page.next_cursor !== null && page.items.length < limit) {
    const next = await ask(limit - page.items.length, page.next_cursor);
    page = { ...next, items: [...page.items, ...next.items], examined: page.examined + next.examined };
  }
  return { ...page, isShort: false };
};

const showCommand = (io: CliIo): Command =>
  apiCommand("show", "show one conversation: which regions hold how much of it, and how its latest turns went", [
    "conversations show 4q8t1v7k0c2me",
  ])
    .argument("<label>", "its label or id")
    .action(async (label: string, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: pathOf(label) });
      printOne(invocation, body, ConversationDetail, (one) => conversationText(one, io.isColourful));
    });

const moveCommand = (io: CliIo): Command =>
  apiCommand("move", "order a conversation to a region: its next turn goes there, once", [
    'conversations move 4q8t1v7k0c2me --to us-east --comment "its client moved" --dry-run',
  ])
    .argument("<label>", "its label or id")
    .requiredOption("--to <region>", "where its next turn goes")
    .requiredOption("--comment <comment>", "why")
    .option("--dry-run", "show what it would cost and change nothing")
    .option("--yes", "do not ask")
    .action(async (label: string, options: MoveOptions, command: Command) => {
      const invocation = invocationOf(command, io);
      const { to: region, comment, dryRun, yes } = options;
      const call = { method: "POST", path: `${pathOf(label)}/move`, body: { region, comment } } as const;
      const plan = async (): Promise<unknown> =>
        (await invocation.client.call({ ...call, query: { dry_run: "true" } })).body;
      if (dryRun === true) return printOne(invocation, await plan(), MovePlan, moveText);
      const ifMatch = yes === true ? null : await agreed(invocation, label, plan);
      const { body } = await invocation.client.call({ ...call, ...(ifMatch === null ? {} : { ifMatch }) });
      printOne(invocation, body, ConversationDetail, ({ id, home }) => `${id}: its next turn goes to ${home}\n`);
    });

type MoveOptions = { readonly to: string; readonly comment: string; readonly dryRun?: true; readonly yes?: true };

/** @returns the ETag of what was shown */
const agreed = async ({ io }: Invocation, label: string, plan: () => Promise<unknown>): Promise<string> => {
  mustBeInteractive(io, `move ${label}, or --dry-run to see what it would cost`);
  const shown = understood(MovePlan, await plan());
  io.tell(moveText(shown));
  await mustAgree(io, `Move it to ${shown.to}?`);
  return shown.etag;
};

const releaseCommand = (io: CliIo): Command =>
  apiCommand("release", "forget where a conversation is at home, so that its next turn is placed anew", [
    "conversations release 4q8t1v7k0c2me",
    "conversations release 4q8t1v7k0c2me --dry-run",
  ])
    .argument("<label>", "its label or id")
    .option("--dry-run", "show where its next turn would go, forget nothing")
    .option("--yes", "do not ask")
    .action(async (label: string, { dryRun, yes }: { dryRun?: true; yes?: true }, command: Command) => {
      const invocation = invocationOf(command, io);
      if (dryRun === true) {
        const call = { method: "DELETE", path: pathOf(label), query: dryRunOf(dryRun) } as const;
        return printOne(invocation, (await invocation.client.call(call)).body, ReleasePlan, releaseText);
      }
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
  io.tell(conversationText(understood(ConversationDetail, body), false));
  await mustAgree(io, "Forget where it is at home? Its context is computed again elsewhere, maybe.");
  return etag;
};

const pathOf = (label: string): string => `/conversations/${encodeURIComponent(label)}`;

const aTokenCount = (text: string): string => {
  if (/^[0-9]{1,9}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
};
