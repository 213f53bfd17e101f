/** `gtm audit`: who changed what, and who was refused. */
import type { Command } from "commander";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import { AuditView } from "#gtm/wire/admin/routes/audit.ts";
import { apiCommand, invocationOf, printMany, tellMore } from "./api-command.ts";
import type { Cell } from "./cell.ts";
import { aLimit } from "./decisions.ts";
import type { Look } from "./fitted.ts";
import type { CliIo } from "./io.ts";
import { table } from "./table.ts";

export const auditCommand = (io: CliIo): Command =>
  apiCommand("audit", "who changed what at any GTM of the store, and who was refused; newest first", [
    "audit --limit 20",
    "audit --actor alice -o jsonl",
  ])
    .option("--actor <name>", "only theirs")
    .option("--limit <n>", "how many, at most 500", aLimit, 50)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (options: { actor?: string; limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { actor, limit, cursor } = options;
      const query = { actor, limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path: "/audit", query });
      printMany(invocation, body, AuditView, auditTable);
      if (invocation.format === "table") tellMore(invocation, body);
    });

const auditTable = (items: readonly AuditView[], look: Look): string =>
  table(
    [
      { header: "WHEN" },
      { header: "WHO" },
      { header: "ROLE", leave: 1 },
      { header: "AT", canShorten: true },
      { header: "ANSWER", align: "right" },
      { header: "WHAT", canShorten: true },
      { header: "WITH", canShorten: true },
    ],
    items.map((one) => [
      instant(one.at),
      ...[one.actor, one.role, one.instance],
      statusOf(one.status),
      `${one.method} ${one.path.replace(/^\/api\/v1/, "")}`,
      withText(one),
    ]),
    look,
  );

const statusOf = (status: number): Cell => (status < 400 ? String(status) : { text: String(status), colour: "yellow" });

const withText = ({ body, overrideRule }: AuditView): string => {
  const rule = overrideRule === null ? "" : `passing ${overrideRule} `;
  return `${rule}${body === null || body === undefined ? "" : JSON.stringify(body)}`.trim();
};
