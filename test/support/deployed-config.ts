/** The configurations that deployments bring along, read by the programs that they are for. */
import { AgentConfig } from "#edge-agent/config.ts";
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { parseConfig } from "#shared/config.ts";

type Env = Readonly<Record<string, string>>;

/** @throws {OperationalError} what the program would say of it */
export const gatewayConfigOf = (text: string, source: string, env: Env): GatewayConfig =>
  parseConfig(GatewayConfig, text, { source, env, code: "AGENT_CONFIG_INVALID" });

export const agentConfigOf = (text: string, source: string, env: Env): AgentConfig =>
  parseConfig(AgentConfig, text, { source, env, code: "AGENT_CONFIG_INVALID" });

/** By what the program is started with: where its metrics listen, and how long it takes to stop at most, ms. */
export const deployedConfig = (
  args: readonly string[],
  text: string,
  env: Env,
): { readonly metricsPort: number; readonly stopMs: number } => {
  const [program, command] = args;
  const source = args.at(-1) ?? "";
  const portOf = (listen: string): number => Number(listen.split(":").at(-1));
  if (program === "gtm/main.ts") {
    return { metricsPort: parseGtmConfig(text, source, env).metrics.listen.port, stopMs: 12_000 };
  }
  if (command === "gateway") {
    const { metrics, drain } = gatewayConfigOf(text, source, env);
    return { metricsPort: portOf(metrics.listen), stopMs: drain.deadline + 10_000 };
  }
  return { metricsPort: portOf(agentConfigOf(text, source, env).metrics.listen), stopMs: 12_000 };
};
