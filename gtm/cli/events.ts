/** `gtm events tail`: decisions and changes of regions as they happen. */
import { Command, Option } from "commander";
import { z } from "zod";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import type { ServerEvent } from "#gtm/wire/admin/server-events.ts";
import { apiCommand, type Invocation, invocationOf, understood } from "./api-command.ts";
import type { Column } from "./cell.ts";
import { aLimit, type DecisionFilters, filtered, filtersOf } from "./decisions.ts";
import { followEvents, jsonOfEvent, tellOfStream } from "./follow-events.ts";
import type { CliIo } from "./io.ts";
import { milliseconds } from "./quantity.ts";
import { state, table, tableLine } from "./table.ts";

export const eventsCommand = (io: CliIo): Command =>
  new Command("events").description("what happens, as it happens").addCommand(tailCommand(io));

type Options = DecisionFilters & { readonly kinds?: string; readonly after?: string; readonly count?: number };

const tailCommand = (io: CliIo): Command =>
  filtered(
    apiCommand("tail", "print decisions and changes of regions as they happen, until interrupted", [
      "events tail",
      "events tail --kinds region -o jsonl",
      "events tail --count 20",
    ]),
  )
    .addOption(new Option("--kinds <kind>", "only these").choices(["decision", "region"]))
    .option("--after <id>", "go on after this event, as -o jsonl and the last message name it")
    .option("--count <n>", "stop after so many", aLimit)
    .action(async (options: Options, command: Command) => {
      const invocation = invocationOf(command, io);
      const { format } = invocation;
      if (format === "table") io.print(table(COLUMNS, [], io.isColourful));
      let printed = 0;
      const last = await followEvents(invocation, {
        query: { ...filtersOf(options), kinds: options.kinds },
        after: options.after ?? null,
        onEvent: (event) => {
          if (tellOfStream(invocation, event)) return false;
          io.print(format === "table" ? eventLine(event, invocation) : `${jsonLine(event)}\n`);
          printed += 1;
          return printed === options.count;
        },
      });
      if (last !== null) io.tell(`gtm events tail --after ${last} goes on here.\n`);
    });

/** With its id and kind beside what it says, so that a reader can go on where it stopped. */
const jsonLine = (event: ServerEvent): string =>
  JSON.stringify({ id: event.id, event: event.event, data: jsonOfEvent(event) });

const COLUMNS: readonly Column[] = [
  { header: "AT", width: 20 },
  { header: "EVENT", width: 9 },
  { header: "REGION", width: 14 },
  { header: "WHAT" },
];

const RegionEvent = z.looseObject({
  at: z.string(),
  region: z.string(),
  changes: z.array(z.looseObject({ field: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
});

const eventLine = (event: ServerEvent, { io }: Invocation): string => {
  const row =
    event.event === "decision" ? decisionRow(event) : event.event === "region" ? regionRow(event) : otherRow(event);
  return tableLine(COLUMNS, row, io.isColourful);
};

const decisionRow = (event: ServerEvent) => {
  const { at, id, verdict, conversation, client } = understood(DecisionSchema, jsonOfEvent(event));
  const lead = verdict.leadMs === null ? "" : `, ${milliseconds(verdict.leadMs)} before ${verdict.runnerUp}`;
  const whom = conversation === null ? client.subnet : conversation.id;
  return [instant(at), state(verdict.kind), verdict.region ?? "nowhere", `${whom}${lead}  ${id}`];
};

const regionRow = (event: ServerEvent) => {
  const { at, region, changes } = understood(RegionEvent, jsonOfEvent(event));
  const what = changes.map(({ field, from, to }) => `${field} ${from ?? "nothing"} → ${to ?? "nothing"}`);
  return [instant(at), "region", region, what.join(", ")];
};

/** A later version may tell of more. */
const otherRow = ({ event, data }: ServerEvent) => ["", event, "", data];
