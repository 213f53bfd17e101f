/** `gtm regions [REGION]`: what was ordered, what reports say, what follows; of one region everything. */
import type { Command } from "commander";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import { RegionView } from "#gtm/wire/admin/region-view.ts";
import { RegionEventView, RegionHistoryPage } from "#gtm/wire/admin/routes/region-history.ts";
import { apiCommand, type Invocation, invocationOf, printMany, printOne, understood } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { Look } from "./fitted.ts";
import type { CliIo } from "./io.ts";
import { cacheTierTable, placementTable, replicaTable } from "./placement-table.ts";
import { age, bytes, UNKNOWN, untilText, yesNo } from "./quantity.ts";
import { facts, state, table } from "./table.ts";

export const regionsCommand = (io: CliIo): Command =>
  apiCommand("regions", "list the regions, or show one with its placements and replicas", [
    "regions",
    "regions eu-central",
    "regions eu-central --history",
    "regions -o jsonl",
  ])
    .argument("[region]", "show this region only")
    .option("--history", "what happened to it, newest first")
    .action(async (region: string | undefined, { history }: { history?: true }, command: Command) => {
      const invocation = invocationOf(command, io);
      if (history === true) {
        await showHistory(invocation, region);
        return;
      }
      if (region === undefined) {
        const { body } = await invocation.client.call({ method: "GET", path: "/regions" });
        printMany(invocation, body, RegionView, regionTable);
      } else {
        const { body } = await invocation.client.call({
          method: "GET",
          path: `/regions/${encodeURIComponent(region)}`,
        });
        printOne(invocation, body, RegionView, (one) => regionText(one, invocation.look));
      }
    });

/** @throws {CliFailure} where no region is named */
const showHistory = async (invocation: Invocation, region: string | undefined): Promise<void> => {
  const { client, io } = invocation;
  if (region === undefined) throw new CliFailure(EXIT.usage, "name the region whose history you want");
  const path = `/regions/${encodeURIComponent(region)}/history`;
  const { body } = await client.call({ method: "GET", path, query: { limit: "500" } });
  printMany(invocation, body, RegionEventView, (events) => historyTable(events, io.isColourful));
  if (invocation.format === "table") {
    const { watchedSince } = understood(RegionHistoryPage, body);
    io.tell(`As this GTM saw it since ${instant(watchedSince)}.\n`);
  }
};

const historyTable = (events: readonly RegionEventView[], isColourful: boolean): string =>
  table(
    [{ header: "WHEN" }, { header: "AGO", align: "right" }, { header: "KIND" }, { header: "WHAT" }],
    events.map(({ at, ageMs, kind, what, isWorse }) => [
      instant(at),
      age(ageMs),
      kind,
      isWorse ? { text: what, colour: "yellow" } : what,
    ]),
    isColourful,
  );

const regionTable = (regions: readonly RegionView[], look: Look): string =>
  table(
    [
      { header: "REGION", canShorten: true },
      { header: "ADMIN" },
      { header: "HEALTH" },
      { header: "NEW" },
      { header: "HELD" },
      { header: "REPORT AGE", align: "right" },
      { header: "MODELS", align: "right", leave: 2 },
      { header: "GPU FREE", align: "right", leave: 1 },
      { header: "ORDERED", canShorten: true },
    ],
    regions.map((region) => [
      region.id,
      state(region.admin),
      state(region.health),
      yesNo(region.takesNew),
      yesNo(region.keepsHeld),
      reportAge(region),
      String(region.placements.filter((placement) => placement.state === "loaded").length),
      bytes(region.gpuMemoryFreeBytes),
      region.order === null ? UNKNOWN : `${region.order.comment} (${region.order.actor})`,
    ]),
    look,
  );

const reportAge = ({ reportAgeMs, isPartial }: RegionView): string =>
  reportAgeMs === null ? "never" : `${age(reportAgeMs)}${isPartial ? " partial" : ""}`;

const regionText = (region: RegionView, look: Look): string => {
  const { ipv4, ipv6, url } = region.endpoint;
  const about = facts([
    ["region", region.id],
    ["state", `${region.admin} (ordered), ${region.health} (reported)`],
    ["follows", region.because],
    ["ordered", orderText(region)],
    ["report age", reportAge(region)],
    ["endpoint", `${url} ${[...ipv4, ...ipv6].join(" ")}`.trim()],
    ["jurisdiction", region.jurisdiction ?? UNKNOWN],
    ["GPU memory", `${bytes(region.gpuMemoryFreeBytes)} free of ${bytes(region.gpuMemoryBytes)}`],
  ]);
  if (region.placements.length === 0) return `${about}\nNo model is placed here.\n`;
  const tables = [
    placementTable(region.placements, look),
    ...[replicaTable, cacheTierTable].map((one) => one(region.placements, look.isColourful)),
  ];
  return [about, ...tables.filter((text) => text !== "")].join("\n");
};

const orderText = ({ order }: RegionView): string => {
  if (order === null) return "nothing";
  return `${order.admin} by ${order.actor} at ${instant(order.orderedAt)}${untilText(order)}: ${order.comment}`;
};
