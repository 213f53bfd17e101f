/** `edge-agent check`: the configuration, and every engine and exporter tried once, with what to do about what is wrong. */
import type { Clock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import type { AgentRound } from "../agent.ts";
import type { AgentConfig } from "../config.ts";
import type { Endpoint } from "../endpoint.ts";
import { addressOf } from "../engine-config.ts";
import { buildAgent } from "../start-agent.ts";
import { aboutAnswersOf } from "./engine-remedies.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { remedyFor } from "./remedies.ts";
import { type Finding, storeFindings } from "./store-findings.ts";

/** @throws {CliFailure} with exit code 7 where there are problems */
export const check = async (config: AgentConfig, path: string, clock: Clock, io: CliIo): Promise<void> => {
  const options = { clock, log: silentLogger, metrics: createMetrics() };
  const { agent, close } = buildAgent(config, createMemoryStore(clock), options);
  try {
    const round = await agent.nextRound(new AbortController().signal);
    const findings = [
      ...(await storeFindings(config, clock)),
      ...discoveryFindings(config, round),
      ...round.endpoints.flatMap((endpoint) => engineFindings(endpoint, round.report)),
      ...otherSources(config).flatMap((source) => otherFindings(source, round.report)),
    ];
    for (const { isProblem, text } of findings) io.print(`${isProblem ? "problem" : "       "}  ${text}\n`);
    const problems = findings.filter(({ isProblem }) => isProblem).length;
    if (problems === 0) io.tell(`${path}: usable, everything answers\n`);
    else throw new CliFailure(EXIT.problemsFound, `${path}: ${problems === 1 ? "1 problem" : `${problems} problems`}`);
  } finally {
    await close();
  }
};

/** Names and files that lead to engines: how many they led to. */
const discoveryFindings = ({ engines }: AgentConfig, { report, endpoints }: AgentRound): readonly Finding[] => {
  const named = engines.flatMap(({ dns, file }) => file ?? (dns === null ? [] : (addressOf(dns) ?? dns)));
  const told = named.flatMap((source) => faultFindings(source, null, report));
  if (endpoints.length > 0) {
    const text = `${endpoints.length === 1 ? "1 engine" : `${endpoints.length} engines`} found`;
    return named.length === 0 ? told : [{ isProblem: false, text: `${named.join(", ")}: ${text}` }, ...told];
  }
  return [...told, { isProblem: true, text: "engines: none is found. Nothing can be reported until there is one." }];
};

const engineFindings = (endpoint: Endpoint, report: RegionReport): readonly Finding[] => {
  const { address, engine } = endpoint;
  const says = report.models.flatMap((model) => {
    const own = model.replicas.filter(({ id }) => id.startsWith(`${address}/`)).length;
    const isThere = endpoint.models.some((known) => known.model === model.model);
    if (!isThere) return [];
    const replicas = own === 1 ? "1 replica" : `${own} replicas`;
    return [{ isProblem: false, text: `${address}: ${model.model}, ${model.state}, ${replicas}` }];
  });
  const who = engine === null ? [] : [{ isProblem: false, text: `${address}: ${engine}` }];
  const answers = aboutAnswersOf(engine);
  const note = answers === null ? [] : [{ isProblem: false, text: `${address}: ${answers}` }];
  return [...who, ...says, ...faultFindings(address, engine, report), ...note];
};

const faultFindings = (source: string, engine: string | null, { faults }: RegionReport): readonly Finding[] =>
  faults
    .filter((fault) => fault.source === source)
    .map(({ field, code }) => {
      const { isProblem, advice } = remedyFor(code, { engine, field });
      return { isProblem, text: `${source}: ${field}: ${code}. ${advice}` };
    });

const otherSources = ({ gateways, gpus }: AgentConfig): readonly string[] => [
  ...gateways.map(({ url }) => addressOf(url) ?? url),
  ...(gpus === null ? [] : gpuSources(gpus)),
];

const gpuSources = (gpus: NonNullable<AgentConfig["gpus"]>): readonly string[] => {
  if (gpus.exporters.length > 0) return gpus.exporters.map(({ url }) => addressOf(url) ?? url);
  return [gpus.dcgm_url === null ? "nvidia-smi" : "dcgm"];
};

const otherFindings = (source: string, report: RegionReport): readonly Finding[] => {
  const found = faultFindings(source, null, report);
  const isGpuSource = source === "dcgm" || source === "nvidia-smi";
  return isGpuSource
    ? [gpuFinding(source, report), ...found]
    : [{ isProblem: false, text: `${source}: asked` }, ...found];
};

const gpuFinding = (source: string, { gpus }: RegionReport): Finding => ({
  isProblem: false,
  text: `${source}: ${gpus.length === 1 ? "1 GPU" : `${gpus.length} GPUs`}`,
});
