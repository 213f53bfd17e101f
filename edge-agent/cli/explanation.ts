/** Why a report says what it says: per field its value, the name that it was read from, or why it is not known. */
import type { ModelReport, RegionReport } from "#shared/report.ts";
import type { Endpoint } from "../endpoint.ts";
import { tierWords } from "./reading-text.ts";
import { remedyFor } from "./remedies.ts";

/** Fields as readers name them, with what they are in words. */
const FIELDS = [
  "contextLimitTokens",
  "kvCapacityTokens",
  "kvCacheUsedFraction",
  "requestsRunning",
  "requestsWaiting",
  "uncachedTokensWaiting",
  "prefillTokensPerSecond",
  "newTokensPerSecond",
  "prefixHitFraction",
  "itlMs",
  "ttftP50Ms",
  "ttftP95Ms",
  "coldStartMs",
  "weightBytes",
] as const satisfies readonly (keyof ModelReport)[];

/** Where readers say it of another field. */
const SAID_OF: Readonly<Partial<Record<(typeof FIELDS)[number], string>>> = { ttftP95Ms: "ttftP50Ms" };

/** Growth between two scrapes. */
const RATES = new Set<string>([
  "prefillTokensPerSecond",
  "newTokensPerSecond",
  "prefixHitFraction",
  "itlMs",
  "ttftP50Ms",
  "ttftP95Ms",
]);
/** What the configuration alone can say. */
const CONFIGURED = new Set<string>(["coldStartMs", "weightBytes"]);

export const explanation = (report: RegionReport, endpoints: readonly Endpoint[]): string =>
  [...report.models.map((model) => modelText(model, placesOf(model, endpoints))), gpuText(report), faultText(report)]
    .filter((text) => text !== "")
    .join("\n");

const placesOf = ({ model }: ModelReport, endpoints: readonly Endpoint[]): readonly Endpoint[] =>
  endpoints.filter(({ models }) => models.some((known) => known.model === model));

const modelText = (model: ModelReport, places: readonly Endpoint[]): string => {
  const at = places.map(({ address, engine }) => `${engine ?? "unrecognised"} at ${address}`).join(", ");
  const rows = FIELDS.map((field) => row(field, valueText(model[field]), reasonOf(field, model, places)));
  const backlogs = model.replicas.map(({ id, backlogMs }) => row(`backlogMs ${id}`, valueText(backlogMs), ""));
  const tiers = (model.cacheTiers ?? []).map((tier) =>
    row("cacheTiers", tier.tier, `${tierWords(tier)}; ${tier.source}`),
  );
  return [`${model.model}: ${model.state}; ${at}`, ...rows, ...backlogs, ...tiers, ...gpuRows(model), ""].join("\n");
};

/** Nothing where no exporter is configured. */
const gpuRows = ({ gpus }: ModelReport): readonly string[] => {
  if (gpus === null || gpus === undefined) return [];
  if (gpus.uuids === null) return [row("gpus", "not known", remedyFor("gpus-unattributed", ANY).advice)];
  return [
    row(
      "gpus",
      String(gpus.count),
      `memory ${valueText(gpus.memoryTotalBytes)} bytes, used ${valueText(gpus.memoryUsedBytes)}`,
    ),
  ];
};
const ANY = { engine: null, field: "gpus" };

const row = (name: string, value: string, reason: string): string =>
  `  ${name.padEnd(24)} ${value.padStart(14)}  ${reason}`.trimEnd();

const valueText = (value: unknown): string =>
  typeof value === "number" ? String(Number(value.toPrecision(6))) : "not known";

const reasonOf = (field: (typeof FIELDS)[number], model: ModelReport, places: readonly Endpoint[]): string => {
  const named = SAID_OF[field] ?? field;
  const from = distinct(
    places.flatMap(({ sources }) => sources.filter((one) => one.field === named).map(({ source }) => source)),
  );
  if (model[field] !== null) return from.length > 0 ? `from ${from.join(", ")}` : "";
  const reasons = places.flatMap(({ faults, engine }) =>
    faults
      .filter((one) => one.field === named)
      .map(({ code }) => `${code}: ${remedyFor(code, { engine, field: named }).advice}`),
  );
  if (reasons.length > 0) return distinct(reasons).join(" ");
  if (CONFIGURED.has(field)) return "not configured: set models[] of this id";
  if (RATES.has(field))
    return from.length > 0
      ? `needs growth between two scrapes of ${from.join(", ")}`
      : "needs growth between two scrapes";
  return "the engine does not say";
};

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** Beside one model alone all of the region's GPUs are that model's. */
const gpuText = ({ gpus, models }: RegionReport): string => {
  if (gpus.length === 0) return "";
  const sum = (field: "memoryTotalBytes" | "memoryUsedBytes" | "memoryFreeBytes"): string => {
    const known = gpus.flatMap((gpu) => gpu[field] ?? []);
    return known.length < gpus.length ? "not known" : String(known.reduce((all, bytes) => all + bytes, 0));
  };
  return [
    `${gpus.length === 1 ? "1 GPU" : `${gpus.length} GPUs`} of the region${models.length === 1 ? `, all of ${models[0]?.model}` : ""}; bytes`,
    row("memoryTotalBytes", sum("memoryTotalBytes"), ""),
    row("memoryUsedBytes", sum("memoryUsedBytes"), ""),
    row("memoryFreeBytes", sum("memoryFreeBytes"), ""),
    "",
  ].join("\n");
};

const faultText = ({ faults }: RegionReport): string =>
  faults.map(({ source, field, code }) => `${source}: ${field}: ${code}\n`).join("");
