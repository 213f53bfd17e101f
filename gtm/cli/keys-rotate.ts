/** `gtm keys rotate` and `gtm keys drop`: a key is changed in steps, so that no GTM meets what it cannot verify. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { Argument, Command } from "commander";
import { RegionId } from "#shared/ids.ts";
import { COOKIE_KEY_OCTETS, MOST_KEYS, MOST_REPORT_KEYS, reportRingsText, ringText } from "#shared/key-file-text.ts";
import { type KeyRing, type Turned, withNext, withNextActive, withoutOld } from "#shared/key-ring.ts";
import { keyText } from "#shared/key-text.ts";
import { withExamples } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { agentFileIn, fileIn, type KeyFolder, readFolder, TITLES } from "./keys-folder.ts";
import { KEY_OCTETS } from "./keys-init.ts";
import { refreshRegionFiles } from "./keys-region.ts";
import { createKeyFile, replaceKeyFile } from "./keys-write.ts";

const RINGS = ["signing", "ticket", "cookie", "reports"] as const;
type RingName = (typeof RINGS)[number];

/** One ring of a folder, and how it is kept. */
type Chosen = {
  readonly ring: KeyRing;
  readonly region: RegionId | null;
  readonly mostKeys: number;
  readonly keyOctets: number;
  readonly file: string;
  readonly save: (ring: KeyRing) => void;
};

export const rotateCommand = (io: CliIo): Command =>
  ringCommand("rotate", "make the next key, which is accepted and not used yet; or with --activate let it be used", [
    "keys rotate signing --dir /etc/llm-gtm/keys",
    "keys rotate signing --dir /etc/llm-gtm/keys --activate",
    "keys rotate reports eu-central --dir /etc/llm-gtm/keys",
  ])
    .option("--activate", "the second step, once every GTM has read the file of the first")
    .action((name: RingName, region: string | undefined, { dir, activate }: { dir: string; activate?: true }) => {
      const folder = readFolder(dir);
      const chosen = choose(folder, name, region);
      if (activate === true) use(io, folder, chosen, name);
      else add(io, chosen, name, [name, ...(region === undefined ? [] : [region]), "--dir", dir].join(" "));
    });

export const dropCommand = (io: CliIo): Command =>
  ringCommand("drop", "forget the old keys; what they signed is not ours any more", [
    "keys drop signing --dir /etc/llm-gtm/keys",
    "keys drop reports eu-central --dir /etc/llm-gtm/keys",
  ]).action((name: RingName, region: string | undefined, { dir }: { dir: string }) => {
    const chosen = choose(readFolder(dir), name, region);
    const { ring, keys } = turned(withoutOld(chosen.ring));
    chosen.save(ring);
    tellOfRegionFiles(io, chosen, name, ring);
    io.tell(
      `dropped ${keys.map(({ id }) => `key ${id}`).join(", ")} from ${chosen.file}. Copy the file to every GTM.\n`,
    );
  });

const ringCommand = (name: string, description: string, examples: readonly string[]): Command =>
  withExamples(new Command(name).description(description), examples)
    .addArgument(new Argument("<ring>", "which keys").choices(RINGS))
    .argument("[region]", "whose, of the keys of reports")
    .requiredOption("--dir <folder>", "where the files are");

const add = (io: CliIo, chosen: Chosen, name: RingName, words: string): void => {
  const { ring, mostKeys, keyOctets, file, save } = chosen;
  const { ring: longer, keys } = turned(
    withNext(ring, { madeAtMs: io.epochMs(), key: randomBytes(keyOctets) }, mostKeys),
  );
  save(longer);
  tellOfRegionFiles(io, chosen, name, longer);
  io.tell(
    `made key ${keys[0]?.id} in ${file}; it is accepted and not used yet. Copy the file to every GTM: each reads it within 5 s.\nThen: gtm keys rotate ${words} --activate\n`,
  );
};

const use = (io: CliIo, folder: KeyFolder, chosen: Chosen, name: RingName): void => {
  const { ring, region, file, save } = chosen;
  const { ring: active, keys } = turned(withNextActive(ring));
  save(active);
  tellOfRegionFiles(io, chosen, name, active);
  const [key] = keys;
  if (region !== null && key !== undefined) {
    const agentFile = agentFileIn(folder.path, region);
    const text = `${keyText(key.key)}\n`;
    if (existsSync(agentFile)) replaceKeyFile(agentFile, text);
    else createKeyFile(agentFile, text);
    io.tell(`${agentFile} has the new key: give it to the region's agents and restart them.\n`);
  }
  io.tell(`key ${key?.id} is current in ${file}; the one before is accepted until it is dropped.\n${THEN[name]}`);
};

/** Gateways have the derived keys as files of their own. */
const tellOfRegionFiles = (io: CliIo, { file }: Chosen, name: RingName, ring: KeyRing): void => {
  if (name !== "ticket") return;
  for (const one of refreshRegionFiles(dirname(file), ring)) {
    io.tell(`${one} follows it: copy it to that region's gateways before the GTMs get theirs.\n`);
  }
};

const THEN: Readonly<Record<RingName, string>> = {
  // KEYS.conversation.ttlMs: an older label names no home.
  signing: "Copy the file to every GTM. An hour later nothing depends on the old key: gtm keys drop signing\n",
  ticket: "Copy the file to every GTM. A minute later nothing depends on the old key: gtm keys drop ticket\n",
  // RFC 9018 §4.3: no cookie is good for longer.
  cookie: "Copy the file to every GTM. An hour later nothing depends on the old key: gtm keys drop cookie\n",
  reports: "Once all agents of the region sign with it: gtm keys drop reports\n",
};

const choose = (folder: KeyFolder, name: RingName, region: string | undefined): Chosen => {
  const file = fileIn(folder.path, name);
  if (name !== "reports") {
    if (region !== undefined)
      throw new CliFailure(EXIT.usage, `${name} keys are not any region's: leave ${region} out`);
    const ring = folder.keys[name] ?? missing(file);
    const save = (to: KeyRing): void => replaceKeyFile(file, ringText(to, TITLES[name]));
    const keyOctets = name === "cookie" ? COOKIE_KEY_OCTETS : KEY_OCTETS;
    return { ring, region: null, mostKeys: MOST_KEYS, keyOctets, file, save };
  }
  const id = RegionId.safeParse(region);
  if (!id.success) throw new CliFailure(EXIT.usage, "say which region's: gtm keys rotate reports REGION");
  const rings = folder.keys.reports ?? missing(file);
  const ring = rings.get(id.data);
  if (ring === undefined) {
    throw new CliFailure(
      EXIT.precondition,
      `${file} has no key of ${id.data}; gtm keys init --region ${id.data} makes one`,
    );
  }
  const save = (to: KeyRing): void => replaceKeyFile(file, reportRingsText(new Map([...rings, [id.data, to]])));
  return { ring, region: id.data, mostKeys: MOST_REPORT_KEYS, keyOctets: KEY_OCTETS, file, save };
};

const missing = (file: string): never => {
  throw new CliFailure(EXIT.precondition, `${file} is not there; gtm keys init makes it`);
};

const turned = (outcome: Turned): Extract<Turned, { kind: "turned" }> => {
  if (outcome.kind === "turned") return outcome;
  throw new CliFailure(EXIT.precondition, outcome.why);
};
