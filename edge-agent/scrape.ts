/** Asks engines and exporters, all at once, each within its deadline. */
import type { Clock } from "#shared/clock.ts";
import type { FetchText } from "./fetch-text.ts";
import { NVIDIA_SMI_COLUMNS } from "./gpu/nvidia-smi.ts";
import type { AgentPorts, EngineAnswers, GpuAnswer } from "./ports.ts";
import type { RunCommand } from "./run-command.ts";

export type EngineTarget = {
  /** Origin and path prefix, without a trailing slash. */
  readonly url: string;
  /** Sent to `/v1/models` only: vLLM's `--api-key` guards nothing else. null: none. */
  readonly apiKey: string | null;
};

export type GpuTarget =
  | { readonly kind: "dcgm"; readonly url: string }
  | { readonly kind: "nvidia-smi"; readonly command: string };

/** Text only: Python's exporter answers OpenMetrics as soon as it is mentioned, whatever its weight. */
const METRICS = "text/plain; version=0.0.4";

export const createScrape = (
  targets: { readonly engines: readonly EngineTarget[]; readonly gpus: GpuTarget | null },
  by: { readonly fetchText: FetchText; readonly runCommand: RunCommand; readonly clock: Clock },
): Pick<AgentPorts, "scrapeEngines" | "scrapeGpus"> => ({
  scrapeEngines: (signal) => Promise.all(targets.engines.map((engine) => scrapeEngine(engine, by, signal))),
  scrapeGpus: async (signal) => (targets.gpus === null ? null : scrapeGpus(targets.gpus, by, signal)),
});

type By = Parameters<typeof createScrape>[1];

const scrapeEngine = async ({ url, apiKey }: EngineTarget, by: By, signal: AbortSignal): Promise<EngineAnswers> => {
  const { fetchText, clock } = by;
  const measured = fetchText(`${url}/metrics`, { accept: METRICS, bearer: null, signal }).then((metrics) => ({
    metrics,
    atMs: clock.monotonicMs(),
    atEpochMs: clock.epochMs(),
  }));
  const [metrics, models, health] = await Promise.all([
    measured,
    fetchText(`${url}/v1/models`, { accept: "application/json", bearer: apiKey, signal }),
    fetchText(`${url}/health`, { accept: "*/*", bearer: null, signal }),
  ]);
  return { ...metrics, models, health };
};

const scrapeGpus = async (target: GpuTarget, by: By, signal: AbortSignal): Promise<GpuAnswer> => {
  switch (target.kind) {
    case "dcgm":
      return {
        source: "dcgm",
        page: await by.fetchText(target.url, { accept: METRICS, bearer: null, signal }),
      };
    case "nvidia-smi": {
      const query = [`--query-gpu=${NVIDIA_SMI_COLUMNS.join(",")}`, "--format=csv,noheader,nounits"];
      return { source: "nvidia-smi", output: await by.runCommand(target.command, query, signal) };
    }
  }
};
