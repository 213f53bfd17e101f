/** `gtm keys region`: the keys that the gateways of one region open tickets with, and the files of them in a folder of keys. */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Argument, Command, InvalidArgumentError } from "commander";
import { RegionId } from "#shared/ids.ts";
import type { KeyRing } from "#shared/key-ring.ts";
import { regionTicketKeysText, ticketRingOf } from "#shared/ticket-keys.ts";
import { withExamples } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { fileIn, readFolder } from "./keys-folder.ts";
import { createKeyFile, replaceKeyFile } from "./keys-write.ts";

export const regionCommand = (io: CliIo): Command =>
  withExamples(
    new Command("region").description(
      "write the keys that a region's gateways open tickets with: derived from ticket.keys, and of no use for other regions",
    ),
    [
      "keys region eu-central --dir /etc/llm-gtm/keys",
      "keys region eu-central --dir /etc/llm-gtm/keys --out eu-central.keys",
    ],
  )
    .addArgument(new Argument("<region>", "whose gateways").argParser(aRegion))
    .requiredOption("--dir <folder>", "where ticket.keys is")
    .option("--out <file>", "instead of ticket-<region>.keys in that folder")
    .action((region: RegionId, { dir, out }: { dir: string; out?: string }) => {
      const { path, keys } = readFolder(dir);
      if (keys.ticket === null) {
        throw new CliFailure(EXIT.precondition, `${fileIn(path, "ticket")} is not there; gtm keys init makes it`);
      }
      const file = out === undefined ? regionFileIn(path, region) : resolve(out);
      writeRegionFile(file, keys.ticket, region);
      io.tell(`wrote ${file}: give it to the gateways of ${region} (keys.ticket_file), and to nobody else.\n`);
    });

/** Files of regions that lie beside ticket.keys follow it. @returns their paths */
export const refreshRegionFiles = (folder: string, ring: KeyRing): readonly string[] =>
  readdirSync(folder).flatMap((name) => {
    const region = RegionId.safeParse(FILE_NAME.exec(name)?.[1]);
    if (!region.success) return [];
    const file = join(folder, name);
    writeRegionFile(file, ring, region.data);
    return [file];
  });

const FILE_NAME = /^ticket-(.+)\.keys$/;

const regionFileIn = (folder: string, region: RegionId): string => join(folder, `ticket-${region}.keys`);

const writeRegionFile = (file: string, ring: KeyRing, region: RegionId): void => {
  const text = regionTicketKeysText(ticketRingOf(ring, region), region);
  if (existsSync(file)) replaceKeyFile(file, text);
  else createKeyFile(file, text);
};

const aRegion = (text: string): RegionId => {
  const region = RegionId.safeParse(text);
  if (region.success) return region.data;
  throw new InvalidArgumentError(`It ${region.error.issues[0]?.message ?? "is no region"}.`);
};
