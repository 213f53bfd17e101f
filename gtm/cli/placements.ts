/** `gtm placements`: which model is where, and how busy. */
import type { Command } from "commander";
import { PlacementView } from "#gtm/wire/admin/placement-view.ts";
import { apiCommand, invocationOf, printMany } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { cacheTierTable, placementTable } from "./placement-table.ts";

export const placementsCommand = (io: CliIo): Command =>
  apiCommand("placements", "list models by region: backlog, KV use, hit fraction, rates", [
    "placements",
    "placements --region eu-central",
    "placements --model llama-3.3-70b -o json",
  ])
    .option("--region <region>", "only in this region")
    .option("--model <model>", "only this model; an alias will do")
    .action(async (options: { region?: string; model?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { region, model } = options;
      const { body } = await invocation.client.call({ method: "GET", path: "/placements", query: { region, model } });
      printMany(invocation, body, PlacementView, (items, look) => {
        const tiers = cacheTierTable(items, io.isColourful);
        return `${placementTable(items, look)}${tiers === "" ? "" : `\n${tiers}`}`;
      });
    });
