/** The whole product in this process on free ports: engine simulators, agents and a GTM on one store in memory. */
import assert from "node:assert/strict";
import { request } from "undici";
import { prose } from "#deploy/demo/prose.ts";
import { AgentConfig } from "#edge-agent/config.ts";
import { type RunningAgent, startAgent } from "#edge-agent/start-agent.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { type Gtm, startGtm } from "#gtm/start.ts";
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type RunningSimulator, SIMULATED_ALIAS, SIMULATED_MODEL, startSimulator } from "./engine-simulators.ts";

/** Each on a loopback address of its own, so that a DNS answer says which region it means. */
export const HOUSE_REGIONS = [
  { id: "eu-central", address: "127.0.3.1", lat: 50.11, lon: 8.68, clients: "192.0.2.0/24" },
  { id: "us-east", address: "127.0.3.2", lat: 38.95, lon: -77.45, clients: "198.51.100.0/24" },
] as const;
type HouseRegion = (typeof HOUSE_REGIONS)[number];

export type House = AsyncDisposable & {
  readonly gtm: Gtm;
  readonly store: Store;
  readonly frontUrl: string;
  readonly adminUrl: string;
  readonly metricsUrl: string;
  readonly dns: { readonly address: string; readonly port: number };
  readonly engine: (region: string) => RunningSimulator;
  readonly region: (id: string) => Promise<RegionView>;
  readonly decision: (id: string) => Promise<DecisionView>;
  readonly post: (path: string, body: object) => Promise<number>;
  readonly stopAgent: (region: string) => Promise<void>;
  readonly startAgent: (region: string) => Promise<void>;
  /** The front door's answer to a chat of so many tokens; redirects are not followed. */
  readonly ask: (chat: { readonly conversation: string; readonly tokens: number; readonly from?: string }) => Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: string;
  }>;
};

export type HouseWish = {
  /** Of the configuration's policy. */
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly regions?: Readonly<Record<string, unknown>>;
  readonly admin?: Readonly<Record<string, unknown>>;
  readonly dns?: Readonly<Record<string, unknown>>;
  /** Of the only pool. */
  readonly pool?: Readonly<Record<string, unknown>>;
};

export const startHouse = async (wish: HouseWish = {}): Promise<House> => {
  const store = createMemoryStore(systemClock);
  const engines = new Map<string, RunningSimulator>();
  const agents = new Map<string, RunningAgent>();
  for (const { id, address } of HOUSE_REGIONS) {
    engines.set(id, await startSimulator({ region: id, listen: { address, port: 0 } }));
  }
  const engine = (id: string): RunningSimulator => {
    const found = engines.get(id);
    assert.ok(found !== undefined, `no engine in ${id}`);
    return found;
  };
  const urlOf = ({ id }: HouseRegion): string => engine(id).origin;
  const regionCalled = (id: string): HouseRegion => {
    const found = HOUSE_REGIONS.find((one) => one.id === id);
    assert.ok(found !== undefined, `no region ${id}`);
    return found;
  };
  const startAgentOf = async (region: HouseRegion): Promise<void> => {
    agents.set(region.id, await startAgent(agentConfig(region.id, urlOf(region)), store, parts()));
  };
  for (const region of HOUSE_REGIONS) await startAgentOf(region);
  const gtm = await startGtm(gtmConfig(urlOf, wish), store, parts());
  const { http, admin, metrics, dns } = gtm.addresses();
  const [dnsAddress] = dns;
  assert.ok(dnsAddress !== undefined);
  const frontUrl = `http://${http.address}:${http.port}`;
  const adminUrl = `http://${admin.address}:${admin.port}/api/v1`;
  const get = async (path: string): Promise<unknown> => {
    const answer = await request(adminUrl + path);
    assert.equal(answer.statusCode, 200, `GET ${path}`);
    return answer.body.json();
  };
  return {
    gtm,
    store,
    frontUrl,
    adminUrl,
    metricsUrl: `http://${metrics.address}:${metrics.port}`,
    dns: dnsAddress,
    engine,
    region: async (id) => (await get(`/regions/${id}`)) as RegionView,
    decision: async (id) => (await get(`/decisions/${id}`)) as DecisionView,
    post: async (path, body) => {
      const headers = { "content-type": "application/json" };
      const answer = await request(adminUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.body.dump();
      return answer.statusCode;
    },
    stopAgent: async (id) => {
      await agents.get(id)?.stop();
      agents.delete(id);
    },
    startAgent: (id) => startAgentOf(regionCalled(id)),
    ask: async ({ conversation, tokens, from = "192.0.2.7" }) => {
      const answer = await request(`${frontUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-conversation-id": conversation, "x-forwarded-for": from },
        body: JSON.stringify({
          model: SIMULATED_ALIAS,
          messages: [{ role: "user", content: prose(tokens, conversation) }],
        }),
      });
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
    },
    [Symbol.asyncDispose]: async () => {
      await gtm.stop();
      for (const agent of agents.values()) await agent.stop();
      for (const one of engines.values()) await one[Symbol.asyncDispose]();
      await store.close();
    },
  };
};

const parts = () => ({ clock: systemClock, log: silentLogger, metrics: createMetrics() });

const agentConfig = (region: string, url: string): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region,
    agent: `agent-${region}`,
    store: { url: "memory:" },
    report: { interval: "200ms" },
    // A busy machine makes no engine unknown.
    scrape: { deadline: "10s" },
    engines: [{ url, engine: "vllm" }],
    gpus: { dcgm_url: `${url}/dcgm/metrics` },
    models: [{ id: SIMULATED_MODEL, prefill_tokens_per_second: 8_000, kv_capacity_tokens: 400_000 }],
  });

/** What `gtm serve` reads, every port free to choose. */
export const houseYaml = (urlOf: (region: HouseRegion) => string, wish: HouseWish = {}): string =>
  JSON.stringify({
    version: 1,
    instance: "test",
    dns: {
      listen: ["127.0.0.1:0"],
      zone: "llm.test",
      ns: [
        { name: "ns1.llm.test", a: ["127.0.0.1"] },
        { name: "ns2.llm.test", a: ["127.0.0.2"] },
      ],
      soa: { rname: "hostmaster.llm.test" },
      default_pool: "chat",
      rate_limit: { exempt: ["127.0.0.0/8"] },
      ...wish.dns,
    },
    http: {
      listen: "127.0.0.1:0",
      addresses: ["127.0.0.1"],
      default_pool: "chat",
      trusted_proxies: ["127.0.0.0/8"],
    },
    admin: { listen: "127.0.0.1:0", ...wish.admin },
    metrics: { listen: "127.0.0.1:0" },
    regions: HOUSE_REGIONS.map((region) => ({
      id: region.id,
      location: { lat: region.lat, lon: region.lon },
      endpoint: { url: urlOf(region), a: [region.address] },
      probe: { url: `${urlOf(region)}/health`, interval: "200ms", timeout: "150ms" },
      affinity: true,
      ...wish.regions,
    })),
    models: [{ id: SIMULATED_MODEL, aliases: [SIMULATED_ALIAS] }],
    pools: [{ name: "chat", models: [SIMULATED_MODEL], regions: HOUSE_REGIONS.map(({ id }) => id), ...wish.pool }],
    policy: wish.policy ?? {},
    geo: {
      provider: "static",
      static: HOUSE_REGIONS.map(({ id, clients, lat, lon }) => ({ cidr: clients, lat, lon, name: id })),
    },
  });

const gtmConfig = (urlOf: (region: HouseRegion) => string, wish: HouseWish) =>
  parseGtmConfig(houseYaml(urlOf, wish), "test", {});
