/**
 * A GTM and a gateway, each as its program starts it, with keys that `gtm keys` made: eu-central has the gateway and an engine
 * that demands a key, us-east an engine alone. Everything that both say is kept.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import { systemClock } from "#shared/clock.ts";
import { ModelId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { SIMULATED_MODEL } from "./engine-simulators.ts";
import { openGateway, type TestGateway } from "./gateway.ts";
import { houseYaml } from "./house.ts";
import { plainReplicas } from "./plain-replicas.ts";
import { publishReport } from "./publish-report.ts";
import { type Logged, recordingLog } from "./recording-log.ts";
import { aModelReport, aReport } from "./report-builders.ts";
import { startTalkingEngine, type Talk, type TalkingEngine } from "./talking-engine.ts";
import { until } from "./until.ts";

export type TicketHouse = AsyncDisposable & {
  readonly frontUrl: string;
  readonly adminUrl: string;
  readonly engine: TalkingEngine;
  readonly bareEngine: TalkingEngine;
  readonly gateway: TestGateway;
  readonly lines: readonly Logged[];
  /** Of the GTM, as Prometheus reads it. */
  readonly metricsText: () => Promise<string>;
};

const ZONE = "llm.test";

/** @param talk of an engine that was given a key; without one it answers 401 */
export const startTicketHouse = async (talk: Talk): Promise<TicketHouse> => {
  await using started = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "gtm-tickets-"));
  started.defer(() => rmSync(dir, { recursive: true }));
  for (const words of [["init"], ["region", "eu-central"]]) await runCli(["keys", ...words, "--dir", dir]);
  const keyFiles = {
    identity_file: join(dir, "identity.key"),
    signing_file: join(dir, "signing.keys"),
    ticket_file: join(dir, "ticket.keys"),
  };

  const demanding: Talk = (incoming, outgoing, body) => {
    const isKnown = incoming.headers.authorization !== undefined || incoming.headers["x-api-key"] !== undefined;
    if (isKnown) return talk(incoming, outgoing, body);
    outgoing.writeHead(401, { "content-type": "application/json" });
    outgoing.end('{"error":{"message":"No key.","type":"auth","code":"no_key"}}');
  };
  const engine = started.use(await startTalkingEngine(demanding));
  const bareEngine = started.use(await startTalkingEngine(demanding));
  const gateway = started.use(
    await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: {
        ...{ region: "eu-central", zone: ZONE, trusted_proxies: ["127.0.0.0/8"] },
        keys: { ...keyFiles, ticket_file: join(dir, "ticket-eu-central.keys") },
      },
    }),
  );

  const store = createMemoryStore(systemClock);
  started.defer(() => store.close());
  for (const region of ["eu-central", "us-east"]) {
    await publishReport(
      store,
      systemClock,
      aReport(region, { models: [aModelReport(region, { model: ModelId.parse(SIMULATED_MODEL) })] }),
    );
  }
  const origins: Readonly<Record<string, string>> = {
    "eu-central": `http://127.0.0.1:${gateway.port}`,
    "us-east": bareEngine.origin,
  };
  const settings = JSON.parse(houseYaml(({ id }) => origins[id] ?? ""));
  const pool = (name: string, region: string, mode: string) => ({
    ...{ name, models: [SIMULATED_MODEL], regions: [region], mode },
  });
  const config = {
    ...settings,
    keys: keyFiles,
    http: { ...settings.http, ticket_headers: ["X-Team-Token"] },
    regions: settings.regions.map((region: { readonly id: string }) => ({
      ...region,
      probe: null,
      gateway: region.id === "eu-central",
    })),
    pools: [
      pool("chat", "eu-central", "redirect"),
      pool("through", "eu-central", "forward"),
      pool("auto", "us-east", "auto"),
      pool("plain", "us-east", "redirect"),
    ],
  };
  const [log, metrics] = [recordingLog(), createMetrics()];
  const gtm = await startGtm(parseGtmConfig(JSON.stringify(config), "test", {}), store, {
    clock: systemClock,
    log,
    metrics,
  });
  started.defer(() => gtm.stop());
  const { http, admin, metrics: served } = gtm.addresses();
  const adminUrl = `http://127.0.0.1:${admin.port}/api/v1`;
  const metricsText = async (): Promise<string> =>
    (await request(`http://127.0.0.1:${served.port}/metrics`)).body.text();
  const isHeard = async (): Promise<boolean> => {
    const { items } = (await (await request(`${adminUrl}/regions`)).body.json()) as {
      items: { reportAgeMs: number | null }[];
    };
    return items.every(({ reportAgeMs }) => reportAgeMs !== null);
  };
  await until(isHeard, "the GTM has heard both regions");
  const all = started.move();
  return {
    ...{
      frontUrl: `http://127.0.0.1:${http.port}`,
      adminUrl,
      engine,
      bareEngine,
      gateway,
      metricsText,
      lines: log.lines,
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
