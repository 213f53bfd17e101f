/** `edge-agent scrape --once`: prints the first report exactly as it would be put, and beside it where each field is from. */
import type { Clock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import type { AgentConfig } from "../config.ts";
import { reportText } from "../publish.ts";
import { buildAgent } from "../start-agent.ts";
import { explanation } from "./explanation.ts";
import type { CliIo } from "./io.ts";

/** Rates need a second scrape and are null here. Nothing is put anywhere. */
export const scrapeOnce = async (config: AgentConfig, clock: Clock, io: CliIo): Promise<void> => {
  const options = { clock, log: silentLogger, metrics: createMetrics() };
  const { agent, close } = buildAgent(config, createMemoryStore(clock), options);
  try {
    const { report, endpoints } = await agent.nextRound(new AbortController().signal);
    io.print(`${reportText(report)}\n`);
    io.tell(explanation(report, endpoints));
  } finally {
    await close();
  }
};
