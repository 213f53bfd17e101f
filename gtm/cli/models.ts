/** `gtm models [MODEL]`: what is served, by whom, how fast, and what a region would need to serve it. */
import type { Command } from "commander";
import { ModelView } from "#gtm/wire/admin/model-view.ts";
import { apiCommand, invocationOf, printMany } from "./api-command.ts";
import type { Cell } from "./cell.ts";
import type { Look } from "./fitted.ts";
import type { CliIo } from "./io.ts";
import { age, bytes, count, milliseconds, UNKNOWN } from "./quantity.ts";
import { coloured, facts, table } from "./table.ts";

export const modelsCommand = (io: CliIo): Command =>
  apiCommand("models", "list models: pools, regions by state, capacity, prefill rates, and what a region would need", [
    "models",
    "models llama-3.3-70b",
    "models -o json",
  ])
    .argument("[model]", "show this model only, region by region; an alias will do")
    .action(async (model: string | undefined, _options: unknown, command: Command) => {
      const invocation = invocationOf(command, io);
      const { body } = await invocation.client.call({ method: "GET", path: "/models", query: { model } });
      printMany(invocation, body, ModelView, (models, look) =>
        model === undefined ? modelTable(models, look) : models.map((one) => modelText(one, io.isColourful)).join("\n"),
      );
    });

const modelTable = (models: readonly ModelView[], look: Look): string =>
  table(
    [
      { header: "MODEL", canShorten: true },
      { header: "ALIASES", canShorten: true },
      { header: "POOLS" },
      { header: "REGIONS" },
      { header: "KV TOKENS", align: "right", leave: 3 },
      { header: "WEIGHTS", align: "right", leave: 1 },
      { header: "COLD START", align: "right", leave: 2 },
      { header: "SERVED", canShorten: true },
    ],
    models.map((one) => [
      one.id,
      one.aliases.join(", ") || UNKNOWN,
      one.pools.map(({ name }) => name).join(", ") || UNKNOWN,
      statesText(one),
      count(capacityOf(one)),
      bytes(one.weightBytes),
      milliseconds(one.coldStartMs),
      servedCell(one),
    ]),
    look,
  );

/** "loaded 2, not-placed 1" */
const statesText = ({ regions }: ModelView): string =>
  [...Map.groupBy(regions, ({ state }) => state)].map(([state, ones]) => `${state} ${ones.length}`).join(", ") ||
  "none";

const capacityOf = ({ regions }: ModelView): number | null => {
  const known = regions.flatMap(({ kvCapacityTokens }) => kvCapacityTokens ?? []);
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
};

const servedCell = ({ isServed, isConfigured, pools, because }: ModelView): Cell =>
  isServed ? because : { text: because, colour: isConfigured && pools.length > 0 ? "red" : "yellow" };

const modelText = (model: ModelView, isColourful: boolean): string => {
  const served = servedCell(model);
  const about = facts([
    ["model", model.id],
    ["aliases", model.aliases.join(", ") || UNKNOWN],
    [
      "pools",
      model.pools.map(({ name, region }) => `${name} (a new conversation: ${region ?? "nowhere"})`).join(", ") ||
        UNKNOWN,
    ],
    ["weights", bytes(model.weightBytes)],
    ["cold start", milliseconds(model.coldStartMs)],
    ["served", typeof served === "string" ? served : coloured(served.text, served.colour, isColourful)],
  ]);
  const needs = model.regions.flatMap(({ region, needs: what }) =>
    what === null ? [] : [`${region} needs: ${what}\n`],
  );
  return `${about}\n${placeTable(model, isColourful)}${needs.length === 0 ? "" : `\n${needs.join("")}`}`;
};

const placeTable = ({ regions }: ModelView, isColourful: boolean): string =>
  table(
    [
      { header: "REGION" },
      { header: "STATE" },
      { header: "NEW" },
      { header: "REPLICAS", align: "right" },
      { header: "KV TOKENS", align: "right" },
      { header: "IN USE", align: "right" },
      { header: "HELD", align: "right" },
      { header: "PREFILL TOK/S", align: "right" },
      { header: "SOURCE" },
      { header: "COLD START", align: "right" },
      { header: "REPORT AGE", align: "right" },
    ],
    regions.map((one) => [
      one.region,
      one.state,
      one.takesNew ? "yes" : "no",
      String(one.replicas),
      count(one.kvCapacityTokens),
      count(one.kvPinnedTokens),
      count(one.liveTokens),
      count(one.prefill?.tokensPerSecond),
      sourceText(one.prefill),
      milliseconds(one.coldStartMs),
      one.reportAgeMs === null ? "never" : age(one.reportAgeMs),
    ]),
    isColourful,
  );

/** Below it a rate is a guess (steering.md). */
const LOW_CONFIDENCE = 0.25;

const sourceText = (prefill: ModelView["regions"][number]["prefill"]): string => {
  if (prefill === null) return UNKNOWN;
  const isGuess = prefill.confidence < LOW_CONFIDENCE && prefill.ageMs !== null;
  return isGuess ? `${prefill.source}, a guess` : prefill.source;
};
