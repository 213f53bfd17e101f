/** `edge-agent run` on a host whose clock is set wrong: `node test/support/shifted-agent.ts FILE MS`. */

import { run } from "#edge-agent/cli/run.ts";
import { AgentConfig } from "#edge-agent/config.ts";
import { systemClock } from "#shared/clock.ts";
import { loadConfig } from "#shared/config.ts";
import { createLogger } from "#shared/logger.ts";

const [path = "", shift = ""] = process.argv.slice(2);
const shiftMs = Number(shift);
const clock = { monotonicMs: systemClock.monotonicMs, epochMs: () => systemClock.epochMs() + shiftMs };
const config = loadConfig(AgentConfig, path, { env: process.env, code: "AGENT_CONFIG_INVALID" });
process.exitCode = await run(config, clock, createLogger({ level: "info" }));
process.exit();
