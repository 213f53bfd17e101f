/** `gtm status`: this GTM, its world and its regions on one screen. */
import type { Command } from "commander";
import { Status } from "#gtm/wire/admin/routes/status.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { age, yesNo } from "./quantity.ts";
import { coloured, state, table } from "./table.ts";

export const statusCommand = (io: CliIo): Command =>
  apiCommand("status", "show the GTM, its world and its regions in short", ["status", "status -o json"]).action(
    async (_options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: "/status" });
      printOne(invocation, body, Status, (status) => statusText(status, io.isColourful));
    },
  );

export const statusText = (status: Status, isColourful: boolean): string => {
  const shown = state(status.state);
  const stateText = typeof shown === "string" ? shown : coloured(shown.text, shown.colour, isColourful);
  const since = status.degradedSince === null ? "" : ` since ${status.degradedSince}`;
  const store = status.isStoreUp ? "store up" : "store away";
  const frozen = status.world.areAgesFrozen ? ", ages frozen because the silence is ours" : "";
  const { savedAgeMs } = status.world;
  const saved = savedAgeMs === null ? "" : `, from a file saved ${age(savedAgeMs)} ago`;
  const head = `${status.instance}, llm-gtm ${status.version}: ${stateText}${since}, up ${age(status.uptimeMs)}, ${store}, world ${age(status.world.ageMs)} old${saved}${frozen}\n`;
  const pools = status.pools
    .map(({ name, models, regions }) => `pool ${name}: ${models.join(", ")} in ${regions.join(", ")}\n`)
    .join("");
  return `${head}${degradationTable(status, isColourful)}${pools}\n${regionTable(status, isColourful)}`;
};

/** Of a GTM that does not say more, the reasons alone. */
const degradationTable = ({ degradations, reasons }: Status, isColourful: boolean): string => {
  if (degradations.length === 0) return reasons.map((reason) => `  ${reason}\n`).join("");
  const rows = degradations.map(({ what, ageMs, reason }) => [what, age(ageMs), reason]);
  return `\n${table([{ header: "DEGRADED" }, { header: "FOR", align: "right" }, { header: "REASON" }], rows, isColourful)}\n`;
};

const regionTable = ({ regions }: Status, isColourful: boolean): string =>
  table(
    [
      { header: "REGION" },
      { header: "ADMIN" },
      { header: "HEALTH" },
      { header: "NEW" },
      { header: "HELD" },
      { header: "REPORT AGE", align: "right" },
      { header: "WHAT FOLLOWS" },
    ],
    regions.map((region) => [
      region.id,
      state(region.admin),
      state(region.health),
      yesNo(region.takesNew),
      yesNo(region.keepsHeld),
      region.reportAgeMs === null ? "never" : age(region.reportAgeMs),
      region.because,
    ]),
    isColourful,
  );
