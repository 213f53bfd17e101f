/** `gtm keys list`: which keys there are, how old they are and which of them signs; never a key itself. */
import { hash } from "node:crypto";
import { Command } from "commander";
import type { Keys } from "#gtm/keys/key-files.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import { madeText } from "#shared/key-file-text.ts";
import type { KeyRing, KeyState } from "#shared/key-ring.ts";
import { type Format, formatOption, withExamples } from "./api-command.ts";
import type { CliIo } from "./io.ts";
import { fileIn, KINDS, readFolder } from "./keys-folder.ts";
import { age, UNKNOWN } from "./quantity.ts";
import { table } from "./table.ts";

export type ListedKey = {
  readonly ring: "identity" | "signing" | "ticket" | "reports" | "cookie";
  /** null: not a region's. */
  readonly region: string | null;
  /** null: the identity key, of which there is one. */
  readonly id: number | null;
  readonly state: KeyState;
  readonly madeAt: string | null;
  readonly ageMs: number | null;
  /** Of SHA-256, 8 hexadecimal digits: the same on every GTM that has the same key, and of no other use. */
  readonly fingerprint: string;
};

export const listCommand = (io: CliIo): Command =>
  withExamples(
    new Command("list").description("list the keys of a folder: ids, age, which one signs; never a key itself"),
    ["keys list --dir /etc/llm-gtm/keys", "keys list --dir keys -o jsonl"],
  )
    .requiredOption("--dir <folder>", "where the files are")
    .addOption(formatOption())
    .action(({ dir, output }: { dir: string; output: Format }) => {
      const { path, keys } = readFolder(dir);
      const items = listed(keys, io.epochMs());
      if (output === "json") io.print(`${JSON.stringify({ items }, null, 2)}\n`);
      else if (output === "jsonl") io.print(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
      else io.print(tableOf(items, io.isColourful));
      for (const kind of KINDS) if (keys[kind] === null) io.tell(`${fileIn(path, kind)} is not there\n`);
    });

const listed = ({ identity, signing, ticket, reports, cookie }: Keys, nowMs: number): readonly ListedKey[] => {
  const inRing = (ring: ListedKey["ring"], region: string | null, keys: KeyRing): readonly ListedKey[] =>
    keys.map(({ id, state, madeAtMs, key }) => ({
      ...{ ring, region, id, state },
      madeAt: madeText(madeAtMs),
      ageMs: Math.max(0, nowMs - madeAtMs),
      fingerprint: fingerprintOf(key),
    }));
  const one: readonly ListedKey[] =
    identity === null
      ? []
      : [
          {
            ...{ ring: "identity", region: null, id: null, state: "current", madeAt: null, ageMs: null },
            fingerprint: fingerprintOf(identity),
          },
        ];
  return [
    ...one,
    ...inRing("signing", null, signing ?? []),
    ...inRing("ticket", null, ticket ?? []),
    ...inRing("cookie", null, cookie ?? []),
    ...[...(reports ?? [])].flatMap(([region, ring]) => inRing("reports", region, ring)),
  ];
};

const fingerprintOf = (key: Uint8Array): string => hash("sha256", key).slice(0, 8);

const tableOf = (items: readonly ListedKey[], isColourful: boolean): string =>
  table(
    [
      { header: "RING" },
      { header: "REGION" },
      { header: "ID", align: "right" },
      { header: "STATE" },
      { header: "MADE" },
      { header: "AGE", align: "right" },
      { header: "FINGERPRINT" },
    ],
    items.map(({ ring, region, id, state, madeAt, ageMs, fingerprint }) => [
      ring,
      region ?? UNKNOWN,
      id === null ? UNKNOWN : String(id),
      state,
      madeAt === null ? UNKNOWN : instant(madeAt),
      age(ageMs),
      fingerprint,
    ]),
    isColourful,
  );
