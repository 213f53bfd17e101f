/** `edge-agent check`: the configuration, and every engine and exporter tried once, with what to do about what is wrong. */
import type { Clock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type AgentConfig, addressOf } from "../config.ts";
import { buildAgent } from "../start-agent.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { remedyFor } from "./remedies.ts";
import { type Finding, storeFindings } from "./store-findings.ts";

/** @throws {CliFailure} with exit code 7 where there are problems */
export const check = async (config: AgentConfig, path: string, clock: Clock, io: CliIo): Promise<void> => {
  const options = { clock, log: silentLogger, metrics: createMetrics() };
  const { agent, close } = buildAgent(config, createMemoryStore(clock), options);
  try {
    const report = await agent.nextReport(new AbortController().signal);
    const findings = [
      ...(await storeFindings(config, clock)),
      ...sourcesOf(config).flatMap((source) => found(source, report)),
    ];
    for (const { isProblem, text } of findings) io.print(`${isProblem ? "problem" : "       "}  ${text}\n`);
    const problems = findings.filter(({ isProblem }) => isProblem).length;
    if (problems === 0) io.tell(`${path}: usable, everything answers\n`);
    else throw new CliFailure(EXIT.problemsFound, `${path}: ${problems === 1 ? "1 problem" : `${problems} problems`}`);
  } finally {
    await close();
  }
};

const sourcesOf = ({ engines, gpus }: AgentConfig): readonly string[] => [
  ...engines.flatMap(({ url }) => (url === null ? [] : (addressOf(url) ?? url))),
  ...(gpus === null ? [] : [gpus.dcgm_url === null ? "nvidia-smi" : "dcgm"]),
];

const found = (source: string, report: RegionReport): readonly Finding[] => {
  const faults = report.faults.filter((fault) => fault.source === source);
  const findings = faults.map(({ field, code }) => {
    const { isProblem, advice } = remedyFor(code);
    return { isProblem, text: `${source}: ${field}: ${code}. ${advice}` };
  });
  const models = report.models.filter(({ replicas }) => replicas.some(({ id }) => id.startsWith(`${source}/`)));
  const says = models.map(({ model, state, replicas }) => {
    const own = replicas.filter(({ id }) => id.startsWith(`${source}/`)).length;
    return { isProblem: false, text: `${source}: ${model}, ${state}, ${own === 1 ? "1 replica" : `${own} replicas`}` };
  });
  const gpus = source === "dcgm" || source === "nvidia-smi" ? [gpuFinding(source, report)] : [];
  return [...says, ...gpus, ...findings];
};

const gpuFinding = (source: string, { gpus }: RegionReport): Finding => ({
  isProblem: false,
  text: `${source}: ${gpus.length === 1 ? "1 GPU" : `${gpus.length} GPUs`}`,
});
