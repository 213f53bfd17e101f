/** `gtm keys init`: makes the key files that are missing. */
import { randomBytes, randomInt } from "node:crypto";
import { Command, InvalidArgumentError } from "commander";
import { loadGtmConfig } from "#gtm/config.ts";
import { readSecretFile } from "#shared/config.ts";
import { RegionId } from "#shared/ids.ts";
import {
  COOKIE_KEY_OCTETS,
  identityKeyText,
  type ReportRings,
  reportRingsText,
  ringText,
} from "#shared/key-file-text.ts";
import { currentFirst, type KeyRing, MOST_ID, newRing } from "#shared/key-ring.ts";
import { keyText } from "#shared/key-text.ts";
import { withExamples } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { agentFileIn, fileIn, type KeyFolder, KINDS, readFolder, TITLES } from "./keys-folder.ts";
import { createKeyFile, makeFolder, replaceKeyFile } from "./keys-write.ts";

type Wishes = { readonly dir: string; readonly region: readonly RegionId[]; readonly config?: string };

/** As long as what HMAC-SHA-256 and A256GCM make of it. */
export const KEY_OCTETS = 32;

export const initCommand = (io: CliIo): Command =>
  withExamples(
    new Command("init").description(
      "make the key files that are missing; what is there is kept, so it can be asked again when a region is added",
    ),
    [
      "keys init --dir /etc/llm-gtm/keys --config /etc/llm-gtm/gtm.yaml",
      "keys init --dir keys --region eu-central --region us-east",
    ],
  )
    .requiredOption("--dir <folder>", "where the files are; made, for its owner only, where it is not there")
    .option("--region <id>", "make a report key for this region; may be repeated", aRegion, [])
    .option("--config <file>", "make a report key for each region of this GTM configuration")
    .action((wishes: Wishes) => init(io, wishes));

const init = (io: CliIo, { dir, region, config }: Wishes): void => {
  const configured = config === undefined ? [] : loadGtmConfig(config, io.env).sites.map(({ id }) => id);
  const regions = [...new Set([...region, ...configured])];
  makeFolder(dir);
  const folder = readFolder(dir);
  const { path } = folder;
  const made = (file: string, text: string): void => {
    const isMade = createKeyFile(file, text);
    io.tell(isMade ? `made  ${file}\n` : `kept  ${file}: it was there already\n`);
  };
  made(fileIn(path, "identity"), identityKeyText(randomBytes(KEY_OCTETS)));
  made(fileIn(path, "signing"), ringText(freshRing(io), TITLES.signing));
  made(fileIn(path, "ticket"), ringText(freshRing(io), TITLES.ticket));
  made(fileIn(path, "cookie"), ringText(freshRing(io, COOKIE_KEY_OCTETS), TITLES.cookie));
  const rings = reportRings(io, folder, regions);
  for (const one of regions) agentFile(io, folder, one, rings.get(one) ?? []);
  io.print(`keys:\n${KINDS.map((kind) => `  ${kind}_file: ${JSON.stringify(fileIn(path, kind))}\n`).join("")}`);
  io.tell(NEXT);
};

const NEXT = `The lines printed belong into the GTM's configuration. Every GTM gets copies of the same five files and nobody else;
report-<region>.key goes to that region's agents (report.key_file) and may then be deleted here.
`;

/** Regions without a key get one; the others keep theirs. */
const reportRings = (io: CliIo, { path, keys }: KeyFolder, regions: readonly RegionId[]): ReportRings => {
  const file = fileIn(path, "reports");
  const missing = regions.filter((region) => keys.reports?.has(region) !== true);
  const rings = new Map([...(keys.reports ?? []), ...missing.map((region) => [region, freshRing(io)] as const)]);
  const list = missing.length === 0 ? "no region" : missing.join(", ");
  if (keys.reports === null) {
    const isMade = createKeyFile(file, reportRingsText(rings));
    io.tell(isMade ? `made  ${file}: ${list}\n` : `kept  ${file}: it was there already\n`);
  } else if (missing.length === 0) io.tell(`kept  ${file}: it was there already\n`);
  else {
    replaceKeyFile(file, reportRingsText(rings));
    io.tell(`kept  ${file}: it was there already; added ${list}\n`);
  }
  return rings;
};

const agentFile = (io: CliIo, { path }: KeyFolder, region: RegionId, ring: KeyRing): void => {
  const file = agentFileIn(path, region);
  const text = keyText(currentFirst(ring)[0].key);
  if (createKeyFile(file, `${text}\n`)) io.tell(`made  ${file}\n`);
  else if (readSecretFile(file) === text) io.tell(`kept  ${file}: it was there already\n`);
  else io.tell(`kept  ${file}, although it is not the region's current key in reports.keys\n`);
};

const freshRing = (io: CliIo, octets = KEY_OCTETS): KeyRing =>
  newRing(randomInt(MOST_ID + 1), io.epochMs(), randomBytes(octets));

const aRegion = (text: string, before: readonly RegionId[]): readonly RegionId[] => {
  const region = RegionId.safeParse(text);
  if (region.success) return [...before, region.data];
  throw new InvalidArgumentError(`It ${region.error.issues[0]?.message ?? "is no region"}.`);
};
