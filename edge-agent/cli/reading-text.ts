/** Readings as text for a person: one value a line, and what is not known says so. */
import type { CacheTierReport } from "#shared/report.ts";
import type { FieldSource } from "../engines/engine.ts";
import type { Fault } from "../exposition.ts";
import type { GpuView } from "./gpu-view.ts";
import type { ModelView, ReadingView, ReplicaView } from "./reading-view.ts";

const NOT_KNOWN = "not known";
const NAME_WIDTH = 34;

type Row = readonly [name: string, value: string];

export const readingText = (view: ReadingView): string => {
  const span = view.windowSeconds === null ? "one payload: no rates" : `two payloads, ${view.windowSeconds} s apart`;
  const models = view.models.length === 0 ? ["no model\n"] : view.models.map(modelText);
  return [
    `${view.engine}, ${span}\n`,
    ...models,
    tierText(view.cacheTiers),
    sourceText(view.sources),
    faultText(view.faults),
  ]
    .filter((text) => text !== "")
    .join("\n");
};

const modelText = (model: ModelView): string => {
  const rows: readonly Row[] = [
    ["state", model.state],
    ["aliases", names(model.aliases)],
    ["adapters", names(model.adapters)],
    ["context limit", quantity(model.contextLimitTokens, "tokens")],
    ["requests running", quantity(model.requestsRunning)],
    ["requests waiting", quantity(model.requestsWaiting)],
    ["KV cache capacity", quantity(model.kvCapacityTokens, "tokens")],
    ["KV cache used (fraction)", quantity(model.kvCacheUsedFraction)],
    ["KV cache used, fullest replica", quantity(model.kvCacheUsedFractionMost)],
    ["KV cache with evictable (fraction)", quantity(model.kvResidentFraction)],
    ["prefix hits (fraction)", quantity(model.prefixHitFraction)],
    ["prefix hits since start (fraction)", quantity(model.prefixHitFractionSinceStart)],
    ["weights", quantity(model.weightBytes, "bytes")],
    ["GPU memory", quantity(model.gpuMemoryBytes, "bytes")],
    ["prefill speed since start", quantity(model.prefillTokensPerSecondSinceStart, "tokens/s")],
    ["decode speed since start", quantity(model.decodeTokensPerSecondSinceStart, "tokens/s")],
    ["prompt tokens computed", quantity(model.prefillComputedTokensPerSecond, "tokens/s")],
    ["prompt tokens, cached included", quantity(model.promptTokensPerSecond, "tokens/s")],
    ["output tokens", quantity(model.decodeTokensPerSecond, "tokens/s")],
    ["prefill speed of one replica", quantity(model.prefillTokensPerSecond, "tokens/s")],
    ["TTFT p50", quantity(model.ttftP50Ms, "ms")],
    ["TTFT p95", quantity(model.ttftP95Ms, "ms")],
    ["first tokens in the window", quantity(model.ttftCount)],
    ["gap between tokens", quantity(model.itlMs, "ms")],
  ];
  return [
    `${model.model === "" ? "a model without a name" : model.model}\n`,
    ...rows.map(line),
    ...model.replicas.map(replicaText),
  ].join("");
};

const replicaText = (replica: ReplicaView): string => {
  const started = replica.startedAtMs === null ? NOT_KNOWN : new Date(replica.startedAtMs).toISOString();
  const parts = [
    `running ${quantity(replica.requestsRunning)}`,
    `waiting ${quantity(replica.requestsWaiting)}`,
    `KV used ${quantity(replica.kvCacheUsedFraction)} of ${quantity(replica.kvCapacityTokens, "tokens")}`,
    `backlog ${quantity(replica.backlogMs, "ms")}`,
    `started ${started}${replica.isRestarted ? ", restarted in between" : ""}`,
  ];
  return line([`replica ${replica.engine}`, parts.join(" · ")]);
};

export const gpuText = (view: GpuView): string => {
  const rows = view.gpus.map((gpu): Row => {
    const used = quantity(gpu.memoryUsedBytes, "bytes");
    return [
      gpu.uuid,
      `used ${used} · free ${quantity(gpu.memoryFreeBytes, "bytes")} · total ${quantity(gpu.memoryTotalBytes, "bytes")}`,
    ];
  });
  const totals: readonly Row[] = [
    ["all GPUs, used", quantity(view.gpuMemoryUsedBytes, "bytes")],
    ["all GPUs, free", quantity(view.gpuMemoryFreeBytes, "bytes")],
    ["all GPUs, total", quantity(view.gpuMemoryTotalBytes, "bytes")],
  ];
  return [`${view.source}\n`, [...rows, ...totals].map(line).join(""), faultText(view.faults)].join("\n");
};

const faultText = (faults: readonly Fault[]): string =>
  faults.length === 0 ? "no faults\n" : `faults\n${faults.map(({ field, code }) => line([field, code])).join("")}`;

/** What is not said of a tier is left out: most say little. */
export const tierWords = (tier: CacheTierReport): string =>
  [
    `${quantity(tier.hitFractionSinceStart)} of the tokens looked up since start`,
    ...(tier.hitFraction === null ? [] : [`${quantity(tier.hitFraction)} lately`]),
    ...(tier.usedFraction === null ? [] : [`${quantity(tier.usedFraction)} of it used`]),
    ...(tier.memoryUsedBytes === null ? [] : [`memory ${quantity(tier.memoryUsedBytes, "bytes")}`]),
    ...(tier.storageUsedBytes === null ? [] : [`storage ${quantity(tier.storageUsedBytes, "bytes")}`]),
    ...(tier.remoteUsedBytes === null ? [] : [`remote ${quantity(tier.remoteUsedBytes, "bytes")}`]),
  ].join(" · ");

const tierText = (tiers: ReadingView["cacheTiers"]): string =>
  tiers.length === 0
    ? ""
    : `second tier of the prefix cache\n${tiers
        .map((tier) => line([tier.model === "" ? tier.tier : `${tier.tier} of ${tier.model}`, tierWords(tier)]))
        .join("")}`;

/** One line a field: several names are several parts of it, or stand in for each other. */
const sourceText = (sources: readonly FieldSource[]): string => {
  if (sources.length === 0) return "read from nothing\n";
  const byField = Map.groupBy(sources, ({ field }) => field);
  return `read from\n${[...byField].map(([field, list]) => line([field, list.map(({ source }) => source).join(", ")])).join("")}`;
};

const line = ([name, value]: Row): string => `  ${name.padEnd(NAME_WIDTH)}  ${value}\n`;

const names = (list: readonly string[]): string => (list.length === 0 ? "none" : list.join(", "));

/** Six significant digits, thousands kept apart. */
const quantity = (value: number | null, unit = ""): string => {
  if (value === null) return NOT_KNOWN;
  const digits = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  const [whole = "", part] = digits.split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, " ");
  return `${part === undefined ? grouped : `${grouped}.${part}`}${unit === "" ? "" : ` ${unit}`}`;
};
