/** `edge-agent scrape --once`: prints the first report exactly as it would be put. */
import type { Clock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import type { AgentConfig } from "../config.ts";
import { reportText } from "../publish.ts";
import { buildAgent } from "../start-agent.ts";
import type { CliIo } from "./io.ts";

/** Rates need a second scrape and are null here. Nothing is put anywhere. */
export const scrapeOnce = async (config: AgentConfig, clock: Clock, io: CliIo): Promise<void> => {
  const options = { clock, log: silentLogger, metrics: createMetrics() };
  const { agent, close } = buildAgent(config, createMemoryStore(clock), options);
  try {
    const report = await agent.nextReport(new AbortController().signal);
    io.print(`${reportText(report)}\n`);
    for (const { source, field, code } of report.faults) io.tell(`${source}: ${field}: ${code}\n`);
  } finally {
    await close();
  }
};
