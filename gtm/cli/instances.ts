/** `gtm instances`: the GTMs on one store, how each is configured, and where they answer otherwise. */
import type { Command } from "commander";
import { Instances } from "#gtm/wire/admin/routes/instances.ts";
import { apiCommand, invocationOf, printOne } from "./api-command.ts";
import type { Cell } from "./cell.ts";
import type { CliIo } from "./io.ts";
import { age, UNKNOWN } from "./quantity.ts";
import { table } from "./table.ts";

export const instancesCommand = (io: CliIo): Command =>
  apiCommand("instances", "list the GTMs on the store, and where they are not of one mind", [
    "instances",
    "instances -o json",
  ]).action(async (_options: unknown, command: Command) => {
    const invocation = invocationOf(command, io);
    const { body } = await invocation.client.call({ method: "GET", path: "/instances" });
    printOne(invocation, body, Instances, (found) => instancesText(found, io.isColourful));
  });

const instancesText = (found: Instances, isColourful: boolean): string => {
  const self = [found.instance, "this one", found.version, "", ""];
  const rows = found.others.map((one): Cell[] => [
    one.instance,
    `${age(one.lastSeenMsAgo)} ago`,
    one.version ?? UNKNOWN,
    configCell(one),
    answersCell(one),
  ]);
  const columns = ["INSTANCE", "SEEN", "VERSION", "CONFIGURATION", "ANSWERS"].map((header) => ({ header }));
  return table(columns, [self, ...rows], isColourful) + found.others.map(disagreementsText).join("");
};

type Other = Instances["others"][number];

const configCell = ({ config, configDiffers }: Other): Cell => {
  if (config === null) return UNKNOWN;
  if (configDiffers.length === 0) return { text: "the same", colour: "green" };
  return { text: `differs: ${configDiffers.join(", ")}`, colour: "red" };
};

const answersCell = ({ isSameState, disagreements }: Other): Cell => {
  if (!isSameState) return { text: "not comparable now", colour: "yellow" };
  if (disagreements.length === 0) return { text: "the same", colour: "green" };
  return { text: `${disagreements.length} differ`, colour: "red" };
};

const disagreementsText = ({ instance, disagreements }: Other): string =>
  disagreements
    .map(
      ({ question, here, there, forMs }) =>
        `  ${question}: ${here ?? "no region"} here, ${there ?? "no region"} on ${instance}, for ${age(forMs)}\n`,
    )
    .join("");
