/** What engines and exporters answered, read: pages parsed, the engine recognised, every reason for not knowing named. */
import type { Gpus } from "./assemble.ts";
import type { Endpoint, Health, Observation } from "./endpoint.ts";
import { tiersOn } from "./engines/cache-tiers.ts";
import type { Engine, EnginePayloads } from "./engines/engine.ts";
import { engineOf } from "./engines/known.ts";
import { isReadByBucket } from "./engines/read-buckets.ts";
import { processStartOf } from "./engines/started-at.ts";
import { inTheirWords, reworded } from "./engines/wording.ts";
import { EMPTY_PAGE, type Fault, WHOLE_PAGE } from "./exposition.ts";
import { isAmd, readAmd } from "./gpu/amd.ts";
import { type GpuReading, readDcgm } from "./gpu/dcgm.ts";
import { type GpuUsers, gpuUsersOn } from "./gpu/gpu-users.ts";
import { readNvidiaSmi } from "./gpu/nvidia-smi.ts";
import type { EngineAnswers, Fetched, GpuAnswer, ReadAs } from "./ports.ts";
import { furtherIn, jsonIn, type PageHabit, type PageIn, pageIn, whyNot } from "./read-payloads.ts";

/**
 * @param endpoint what was known before: an engine once recognised is the one whose page cannot be had now
 * @param readAs as the configuration wants it
 */
export const readEngine = (answers: EngineAnswers, endpoint: Endpoint, readAs: ReadAs): Observation => {
  const { wish } = readAs;
  const habit = { isRead: isReadByBucket(readAs.aliases), memory: endpoint.pageMemory };
  const page = pageOf(answers.metrics, habit);
  const list = modelListOf(answers.models);
  const further = new Map([...answers.further].map(([path, fetched]) => [path, furtherIn(fetched, "read")] as const));
  const words = reworded(page.page ?? EMPTY_PAGE, readAs.aliases);
  const payloads = { page: page.page === null ? null : words.page, models: list.models ?? endpoint.modelList, further };
  const engine = engineOf(page.page === null && wish === "auto" ? (endpoint.engine ?? wish) : wish, payloads);
  const faults = [
    ...answers.faults,
    ...page.faults,
    ...(engine?.hasModelList === false ? [] : list.faults),
    ...healthFaults(answers.health),
  ];
  const reading = engine === null ? null : inTheirWords(engine.read(payloads), readAs, words);
  // A page that could not be had is its own fault, and says nothing of the engine.
  if (engine === null && page.page !== null) faults.push({ field: "engine", code: "unrecognised" });
  return {
    atMs: answers.atMs,
    atEpochMs: answers.atEpochMs,
    health: healthOf(answers.health, engine?.unavailableMeans ?? "down"),
    reading,
    isMeasured: reading === null ? page.page !== null : reading.isMeasured,
    modelList: list.models,
    processStartedAtMs: page.page === null ? null : (processStartOf(page.page)?.atMs ?? null),
    faults,
    cacheTiers: payloads.page === null ? null : tiersOn(payloads.page),
    pageMemory: page.memory,
    absentPaths: absentOf(engine, answers.further),
  };
};

const absentOf = (engine: Engine | null, further: EngineAnswers["further"]): readonly string[] =>
  (engine?.optionalPaths ?? []).filter((path) => {
    const fetched = further.get(path);
    return fetched?.kind === "answered" && fetched.status === 404;
  });

const pageOf = (metrics: Fetched | null, habit: PageHabit): PageIn =>
  metrics === null ? { page: null, faults: [], memory: habit.memory } : pageIn(metrics, habit);

/** @param uuids of the GPUs that serve; empty: all */
export const readGpus = (answers: readonly GpuAnswer[], uuids: readonly string[]): Gpus => {
  const readings = answers.map((answer) => ({ source: answer.source, ...gpuReading(answer, uuids) }));
  // A GPU that two exporters tell of is one; each exporter knows those of its host.
  const byUuid = new Map<string, GpuReading["gpus"][number]>();
  for (const gpu of readings.flatMap(({ gpus }) => gpus)) {
    const before = byUuid.get(gpu.uuid);
    if (before === undefined || before.memoryTotalBytes === null) byUuid.set(gpu.uuid, gpu);
  }
  const isElsewhere = (field: string): boolean =>
    answers.length > 1 && uuids.some((uuid) => field.startsWith(uuid) && byUuid.get(uuid)?.memoryTotalBytes !== null);
  return {
    gpus: [...byUuid.values()],
    users: new Map(answers.flatMap((answer) => [...usersIn(answer)])),
    faults: readings.flatMap(({ source, faults }) =>
      faults.filter(({ field }) => !isElsewhere(field)).map((fault) => ({ source, ...fault })),
    ),
  };
};

const usersIn = (answer: GpuAnswer): GpuUsers => {
  const page = answer.kind === "page" ? pageIn(answer.page).page : null;
  return page === null ? new Map() : gpuUsersOn(page);
};

const gpuReading = (answer: GpuAnswer, uuids: readonly string[]): GpuReading => {
  switch (answer.kind) {
    case "page": {
      const { page, faults } = pageIn(answer.page);
      if (page === null) return gpusOf(null, faults, uuids);
      return gpusOf(isAmd(page) ? readAmd(page, uuids) : readDcgm(page, uuids), faults, uuids);
    }
    case "nvidia-smi": {
      const { output } = answer;
      if (output.kind === "failed") return gpusOf(null, [{ field: WHOLE_PAGE, code: output.code }], uuids);
      const isReadable = output.exitCode === 0 || output.text.includes("No devices were found");
      const faults = isReadable ? [] : [{ field: WHOLE_PAGE, code: `exit-${output.exitCode}` }];
      return gpusOf(isReadable ? readNvidiaSmi(output.text, uuids) : null, faults, uuids);
    }
  }
};

/** GPUs that are configured by name are there, even when nothing can be said of them. */
const gpusOf = (reading: GpuReading | null, faults: readonly Fault[], uuids: readonly string[]): GpuReading => {
  const unknown = uuids.map((uuid) => ({ uuid, memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }));
  return { gpus: reading?.gpus ?? unknown, faults: [...faults, ...(reading?.faults ?? [])] };
};

const modelListOf = (fetched: Fetched): { models: EnginePayloads["models"]; faults: readonly Fault[] } => {
  const failed = (code: string) => ({ models: null, faults: [{ field: "models", code }] });
  const code = whyNot(fetched);
  if (fetched.kind === "failed" || code !== null) return failed(code ?? "");
  const answer = jsonIn(fetched.octets);
  if (answer.kind !== "json") return failed("not-json");
  const models = answer.json;
  const isList = typeof models === "object" && models !== null && "data" in models && Array.isArray(models.data);
  return isList ? { models, faults: [] } : failed("not-a-model-list");
};

const healthOf = (fetched: Fetched | null, unavailableMeans: Engine["unavailableMeans"]): Health => {
  if (fetched === null) return "unknown";
  if (fetched.kind === "failed") return fetched.code === "refused" ? "down" : "unknown";
  if (fetched.status === 503) return unavailableMeans;
  return fetched.status === 200 ? "up" : "unknown";
};

const healthFaults = (fetched: Fetched | null): readonly Fault[] => {
  const code = fetched === null ? null : whyNot(fetched);
  return code === null ? [] : [{ field: "health", code }];
};
