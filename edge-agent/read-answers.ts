/** What engines and exporters answered, read: pages parsed, the engine recognised, every reason for not knowing named. */
import type { Gpus } from "./assemble.ts";
import type { Endpoint, Health, Observation } from "./endpoint.ts";
import { type EnginePayloads, type EngineReading, NOTHING_FURTHER } from "./engines/engine.ts";
import { engineOf } from "./engines/known.ts";
import { type Fault, type Page, parseExposition, WHOLE_PAGE } from "./exposition.ts";
import { type GpuReading, readDcgm } from "./gpu/dcgm.ts";
import { readNvidiaSmi } from "./gpu/nvidia-smi.ts";
import type { EngineAnswers, Fetched, GpuAnswer } from "./ports.ts";

/**
 * @param endpoint what was known before: an engine once recognised is the one whose page cannot be had now
 * @param wish the configured engine, or `auto`
 */
export const readEngine = (answers: EngineAnswers, endpoint: Endpoint, wish: string): Observation => {
  const page = pageOf(answers.metrics);
  const list = modelListOf(answers.models);
  const payloads = { page: page.page, models: list.models ?? endpoint.modelList, further: NOTHING_FURTHER };
  const choice = engineOf(page.page === null && wish === "auto" ? (endpoint.engine ?? wish) : wish, payloads);
  const faults = [...page.faults, ...list.faults, ...healthFaults(answers.health)];
  let reading: EngineReading | null = null;
  switch (choice.kind) {
    case "engine":
      reading = choice.engine.read(payloads);
      break;
    case "unsupported":
      faults.push({ field: "engine", code: `unsupported-${choice.name}` });
      break;
    case "unrecognised":
      // A page that could not be had is its own fault, and says nothing of the engine.
      if (page.page !== null) faults.push({ field: "engine", code: "unrecognised" });
      break;
  }
  return {
    atMs: answers.atMs,
    atEpochMs: answers.atEpochMs,
    health: healthOf(answers.health),
    reading,
    isMeasured: page.page !== null,
    modelList: list.models,
    faults,
  };
};

/** @param uuids of the GPUs that serve; empty: all */
export const readGpus = (answer: GpuAnswer, uuids: readonly string[]): Gpus => {
  switch (answer.source) {
    case "dcgm": {
      const { page, faults } = pageOf(answer.page);
      return gpusOf(answer.source, page === null ? null : readDcgm(page, uuids), faults, uuids);
    }
    case "nvidia-smi": {
      const { output } = answer;
      if (output.kind === "failed") {
        return gpusOf(answer.source, null, [{ field: WHOLE_PAGE, code: output.code }], uuids);
      }
      const isReadable = output.exitCode === 0 || output.text.includes("No devices were found");
      const faults = isReadable ? [] : [{ field: WHOLE_PAGE, code: `exit-${output.exitCode}` }];
      return gpusOf(answer.source, isReadable ? readNvidiaSmi(output.text, uuids) : null, faults, uuids);
    }
  }
};

/** GPUs that are configured by name are there, even when nothing can be said of them. */
const gpusOf = (
  source: string,
  reading: GpuReading | null,
  faults: readonly Fault[],
  uuids: readonly string[],
): Gpus => {
  const unknown = uuids.map((uuid) => ({ uuid, memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }));
  return { source, gpus: reading?.gpus ?? unknown, faults: [...faults, ...(reading?.faults ?? [])] };
};

/** A page that came half is no page. Faults inside a whole page are told by who reads it. */
const pageOf = (fetched: Fetched): { page: Page | null; faults: readonly Fault[] } => {
  if (fetched.kind === "failed") return { page: null, faults: [{ field: WHOLE_PAGE, code: fetched.code }] };
  if (fetched.status !== 200) return { page: null, faults: [{ field: WHOLE_PAGE, code: `http-${fetched.status}` }] };
  const page = parseExposition(fetched.text, fetched.contentType.startsWith("application/openmetrics-text"));
  const isHalf = page.faults.some(({ code }) => code === "half-sent");
  return isHalf ? { page: null, faults: page.faults } : { page, faults: [] };
};

const modelListOf = (fetched: Fetched): { models: EnginePayloads["models"]; faults: readonly Fault[] } => {
  const failed = (code: string) => ({ models: null, faults: [{ field: "models", code }] });
  if (fetched.kind === "failed") return failed(fetched.code);
  if (fetched.status !== 200) return failed(`http-${fetched.status}`);
  try {
    const models: unknown = JSON.parse(fetched.text);
    const isList = typeof models === "object" && models !== null && "data" in models && Array.isArray(models.data);
    return isList ? { models, faults: [] } : failed("not-a-model-list");
  } catch {
    return failed("not-json");
  }
};

const healthOf = (fetched: Fetched): Health => {
  if (fetched.kind === "failed") return fetched.code === "refused" ? "down" : "unknown";
  if (fetched.status === 503) return "down";
  return fetched.status === 200 ? "up" : "unknown";
};

const healthFaults = (fetched: Fetched): readonly Fault[] => {
  if (fetched.kind === "failed") return [{ field: "health", code: fetched.code }];
  return fetched.status === 200 ? [] : [{ field: "health", code: `http-${fetched.status}` }];
};
