/** Every captured payload of test/fixtures, case by case: which page, which other answers, whose they are. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathOf } from "#edge-agent/cli/captured-json.ts";
import type { EnginePayloads, Further } from "#edge-agent/engines/engine.ts";

const FOLDERS = ["engines", "engines-more"].map((name) => join(import.meta.dirname, "../fixtures", name));

export type PayloadCase = {
  readonly name: string;
  /** The text of its newest page; null: it has only JSON. */
  readonly page: string | null;
  readonly models: unknown;
  readonly further: EnginePayloads["further"];
};

type Listed = Readonly<Record<string, { readonly files?: readonly string[] }>>;

const GPUS = ["dcgm-exporter", "amd"];

/** Of what `expected.json` lists, all but the pages of GPUs; and pages that it does not list. */
export const payloadCases = (): readonly PayloadCase[] =>
  FOLDERS.flatMap((folder) => {
    const listed: Listed = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
    const cases = Object.entries(listed).flatMap(([name, { files }]) =>
      files === undefined || GPUS.includes(name) ? [] : [caseOf(folder, name, files)],
    );
    return folder.endsWith("more") ? cases : [...cases, caseOf(folder, "dynamo", ["dynamo-frontend.prom"])];
  });

const caseOf = (folder: string, name: string, files: readonly string[]): PayloadCase => {
  const texts = files.map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") }));
  const json = texts
    .filter(({ file }) => file.endsWith(".json"))
    .map(({ text }): readonly [string, unknown] => {
      const parsed: unknown = JSON.parse(text);
      return [pathOf(parsed) ?? "", parsed];
    });
  return {
    name,
    page: texts.findLast(({ file }) => file.endsWith(".prom"))?.text ?? null,
    models: json.find(([path]) => path === "/v1/models")?.[1] ?? null,
    further: new Map(json.map(([path, value]): readonly [string, Further] => [path, { kind: "json", json: value }])),
  };
};
