/** `gtm zones list` and `gtm zones records`: what a running GTM answers with authority. */
import { type Command, Option } from "commander";
import { z } from "zod";
import { ZoneView } from "#gtm/wire/admin/routes/zones.ts";
import { ZoneRecordView } from "#gtm/wire/admin/zone-records.ts";
import { apiCommand, invocationOf, printMany, tellMore, understood } from "./api-command.ts";
import type { Cell } from "./cell.ts";
import type { createClient } from "./client.ts";
import { aLimit } from "./decisions.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { age } from "./quantity.ts";
import { table } from "./table.ts";

type Client = ReturnType<typeof createClient>;

export const zoneListCommand = (io: CliIo): Command =>
  apiCommand("list", "list the zones, with their name servers and what the newest check of the delegation found", [
    "zones list",
    "zones list -o json",
  ]).action(async (_options: unknown, command: Command) => {
    const invocation = invocationOf(command, io);
    const { body } = await invocation.client.call({ method: "GET", path: "/zones" });
    printMany(invocation, body, ZoneView, (zones) => zoneTable(zones, io.isColourful));
  });

const zoneTable = (zones: readonly ZoneView[], isColourful: boolean): string =>
  table(
    [
      { header: "ZONE" },
      { header: "SERIAL", align: "right" },
      { header: "NAME SERVERS" },
      { header: "RECORD SETS" },
      { header: "DELEGATION" },
    ],
    zones.map((zone) => [
      zone.name,
      String(zone.serial),
      zone.nameServers.map(({ name, ipv4, ipv6 }) => `${name} ${[...ipv4, ...ipv6].join(" ")}`.trim()).join(", "),
      Object.entries(zone.records)
        .map(([kind, count]) => `${kind} ${count}`)
        .join(", "),
      checkCell(zone.lastCheck),
    ]),
    isColourful,
  );

const checkCell = (check: ZoneView["lastCheck"]): Cell => {
  if (check === null) return "not checked";
  if (check.problems === 0) return { text: `no problems, ${age(check.ageMs)} ago`, colour: "green" };
  const problems = check.problems === 1 ? "1 problem" : `${check.problems} problems`;
  return { text: `${problems}, ${age(check.ageMs)} ago`, colour: "red" };
};

type Wishes = { readonly kind?: string; readonly name?: string; readonly limit: number; readonly cursor?: string };

const KINDS = ["zone", "static", "delegated", "front", "region", "pool", "model", "label", "why", "acme"];

export const zoneRecordsCommand = (io: CliIo): Command =>
  apiCommand(
    "records",
    "list every name that the zone answers: kind, type, TTL, the present answer or how it is decided",
    ["zones records", "zones records --kind pool", "zones records llm.example.com --name chat -o json"],
  )
    .argument("[zone]", "absent: the one that there is")
    .addOption(new Option("--kind <kind>", "only of this kind").choices(KINDS))
    .option("--name <text>", "only names that contain it")
    .option("--limit <n>", "how many, at most 500", aLimit, 500)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (zone: string | undefined, options: Wishes, command: Command) => {
      const invocation = invocationOf(command, io);
      const { kind, name, limit, cursor } = options;
      const path = `/zones/${encodeURIComponent(zone ?? (await onlyZone(invocation.client)))}/records`;
      const query = { kind, name, limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path, query });
      printMany(invocation, body, ZoneRecordView, (records) => recordTable(records, io.isColourful));
      if (invocation.format === "table") tellMore(invocation, body);
    });

/** @throws {CliFailure} where there are several, or none */
export const onlyZone = async (client: Client): Promise<string> => {
  const { body } = await client.call({ method: "GET", path: "/zones" });
  const [first, ...others] = understood(z.looseObject({ items: z.array(ZoneView) }), body).items;
  if (first !== undefined && others.length === 0) return first.name;
  throw new CliFailure(EXIT.usage, "say which zone: `gtm zones list` names them");
};

const recordTable = (records: readonly ZoneRecordView[], isColourful: boolean): string =>
  table(
    [
      { header: "NAME" },
      { header: "KIND" },
      { header: "TTL", align: "right" },
      { header: "TYPE" },
      { header: "ANSWER" },
    ],
    records.flatMap((one) => [
      [one.name, one.kind, one.ttlSeconds === null ? "decided" : String(one.ttlSeconds), one.type, answerText(one)],
      ...presentRows(one),
    ]),
    isColourful,
  );

const answerText = ({ values, how, present }: ZoneRecordView): string =>
  present === null && values.length > 0
    ? [values.join(", "), how].filter((part) => part !== null).join("  ")
    : (how ?? "");

/** A line a region that is answered now, and from where. */
const presentRows = ({ present }: ZoneRecordView): readonly Cell[][] =>
  [...Map.groupBy(present ?? [], ({ region }) => region)].map(([region, ones]) => {
    const from = ones.map((one) => one.from).join(", ");
    const values = ones[0]?.values.join(", ") ?? "";
    return [
      "",
      "",
      "",
      "",
      region === null ? `  from ${from}: the last resort` : `  from ${from}: ${region} ${values}`.trimEnd(),
    ];
  });
