/** The example configurations are accepted, fit each other, and fit the image. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { AgentConfig } from "#edge-agent/config.ts";
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { planOf, SimulateConfig } from "#gtm/cli/simulate-config.ts";
import type { Plan } from "#gtm/cli/simulate-plan.ts";
import { KNOWN } from "#gtm/cli/simulate-play.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { parseConfig } from "#shared/config.ts";
import { instructionsOf } from "#test/support/dockerfile.ts";

const env = { HOSTNAME: "host-1" };
const files = globSync("deploy/config/**/*.{yaml,yml}").toSorted();

const gtmConfigIn = (path: string) => parseGtmConfig(readFileSync(path, "utf8"), path, env);

const agentConfigIn = (path: string): AgentConfig =>
  parseConfig(AgentConfig, readFileSync(path, "utf8"), { source: path, env, code: "AGENT_CONFIG_INVALID" });

const gatewayConfigIn = (path: string): GatewayConfig =>
  parseConfig(GatewayConfig, readFileSync(path, "utf8"), { source: path, env, code: "AGENT_CONFIG_INVALID" });

const simulationIn = (path: string): Plan => {
  const code = "GTM_CONFIG_INVALID";
  const plan = planOf(parseConfig(SimulateConfig, readFileSync(path, "utf8"), { source: path, env, code }), KNOWN);
  assert.ok("scenarios" in plan, JSON.stringify(plan));
  return plan;
};

/** By the beginning of its name, which says whose configuration it is. */
const readerOf = (path: string): ((path: string) => unknown) | null => {
  if (basename(path).startsWith("gtm")) return gtmConfigIn;
  if (basename(path).startsWith("gateway")) return gatewayConfigIn;
  if (basename(path).startsWith("simulate")) return simulationIn;
  return basename(path).startsWith("edge-agent") ? agentConfigIn : null;
};

describe("an example configuration", () => {
  it("is there for each program", () => {
    assert.deepEqual(
      new Set(files.map(readerOf)),
      new Set([gtmConfigIn, agentConfigIn, gatewayConfigIn, simulationIn]),
    );
  });

  for (const path of files) {
    it(`is accepted by the program it is for: ${path}`, () => {
      const reader = readerOf(path);
      assert.ok(reader !== null, "its name begins with gtm, gateway, edge-agent or simulate");
      reader(path);
    });

    it(`is accepted without the variables it names: ${path}`, () => {
      const text = readFileSync(path, "utf8");
      const named = [...text.replaceAll(/#.*$/gm, "").matchAll(/\$\{(\w+)(:-[^}]*)?\}/g)];
      assert.deepEqual(
        named.filter(([, , otherwise]) => otherwise === undefined).map(([reference]) => reference),
        [],
      );
    });
  }
});

describe("the examples together", () => {
  const gtm = gtmConfigIn("deploy/config/gtm.yaml");
  const agent = agentConfigIn("deploy/config/edge-agent.yaml");

  it("have an agent in a region of the GTM, with a model of the GTM", () => {
    assert.ok(gtm.sites.map(({ id }) => id).includes(agent.region));
    const models = gtm.models.map(({ id }) => id);
    assert.deepEqual(
      agent.models.map(({ id }) => id).filter((id) => !models.includes(id)),
      [],
    );
  });

  const dockerfile = instructionsOf(readFileSync("deploy/Dockerfile", "utf8"));
  const textOf = (name: string): string => dockerfile.find((one) => one.name === name)?.text ?? "";
  const agentPort = Number(agent.metrics.listen.split(":").at(-1));

  it("listen on the ports that the image declares", () => {
    const declared = textOf("EXPOSE")
      .split(" ")
      .map((port) => Number(port.split("/")[0]));
    const { dns, http, admin, metrics } = gtm;
    const listening = [...dns.listen, http.listen, admin.listen, metrics.listen].flatMap((at) =>
      "port" in at ? [at.port] : [],
    );
    assert.deepEqual(new Set(declared), new Set([...listening, agentPort]));
  });

  it("answer /readyz where the image's health check asks", () => {
    assert.equal(textOf("ENV"), `HEALTH_URL=http://127.0.0.1:${gtm.metrics.listen.port}/readyz`);
    assert.ok(readFileSync("deploy/README.md", "utf8").includes(`HEALTH_URL=http://127.0.0.1:${agentPort}/readyz`));
  });
});
