/**
 * Three regions with TLS gateways before engine simulators that want a key, and a GTM that redirects, forwards and answers DNS
 * for them, on loopback; every region has an address of its own and the same ports.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { makeCertificates } from "#deploy/demo/certificates.ts";
import { type DemoKeys, writeKeys } from "#deploy/demo/keys.ts";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { type DemoStores, memoryStores } from "#deploy/demo/stores.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { freePort } from "./free-port.ts";
import { type RegionParts, startSteeredRegion } from "./steered-region.ts";
import { gtmSettings, STEERED_SITES, type SteeredRegionSite, ZONE } from "./steered-settings.ts";
import { until } from "./until.ts";

export type SteeredRegions = AsyncDisposable & {
  /** `http://<host>.llm.test:port`; `front` is any pool, `through.front` the pool that is forwarded. */
  readonly frontUrl: (host?: string) => string;
  /** The same by address, for clients that resolve names elsewhere. */
  readonly frontAddress: { readonly address: string; readonly port: number };
  /** As node:dns takes it. */
  readonly dnsServer: string;
  /** PEM, of the gateways' certificates, and where it lies. */
  readonly authority: string;
  readonly authorityFile: string;
  readonly gatewayPort: number;
  readonly region: (id: string) => RegionParts;
  readonly drainAll: (id: string) => Promise<void>;
  /** Of the GTM's admin API. */
  readonly get: (path: string) => Promise<unknown>;
};

export type SteeredWish = {
  /** Default: one in memory that all share. */
  readonly stores?: DemoStores;
  /** Regions whose engine, gateway and agent are processes of their own, so that they can be killed; they need a Redis. */
  readonly apart?: readonly string[];
  /** Of the region's endpoints, such as by way of what delays; default: each gateway's own. */
  readonly originOf?: (site: SteeredRegionSite, gatewayPort: number) => string;
};

type Folder = Disposable & {
  readonly keys: DemoKeys;
  readonly engineKeyFile: string;
  readonly tls: { readonly cert_file: string; readonly key_file: string };
  readonly authority: string;
  readonly authorityFile: string;
};

const makeFolder = async (): Promise<Folder> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-steered-"));
  const nowEpochMs = systemClock.epochMs();
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const names = [`*.c.${ZONE}`, `*.r.${ZONE}`] as const;
  const addresses = STEERED_SITES.map(({ address }) => address);
  const made = await makeCertificates([...names], addresses, nowEpochMs);
  return {
    keys: writeKeys(
      folder,
      STEERED_SITES.map(({ id }) => id),
      nowEpochMs,
    ),
    engineKeyFile: write("engine.key", `${ENGINE_KEY}\n`),
    tls: { cert_file: write("gateway.pem", made.certificate), key_file: write("gateway.key", made.key) },
    authority: made.authority,
    authorityFile: write("authority.pem", made.authority),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
};

export const startSteeredRegions = async (wish: SteeredWish = {}): Promise<SteeredRegions> => {
  const { stores = memoryStores(), apart = [], originOf = gatewayOrigin } = wish;
  await using started = new AsyncDisposableStack();
  const folder = started.use(await makeFolder());
  const ports = { gateway: await freePort(), plain: await freePort() };
  const regions = new Map<string, RegionParts>();
  for (const place of STEERED_SITES) {
    const files = { keys: folder.keys.of(place.id), engineKeyFile: folder.engineKeyFile, tls: folder.tls };
    const options = { ports, files, stores, isApart: apart.includes(place.id) };
    regions.set(place.id, started.use(await startSteeredRegion(place, options)));
  }
  const store = stores.open("gtm/test");
  started.defer(() => store.close());
  const settings = gtmSettings(
    { keys: folder.keys.gtm, authorityFile: folder.authorityFile },
    {
      originOf: (place) => originOf(place, ports.gateway),
      probeOf: ({ id, address }) => (apart.includes(id) ? { url: `http://${address}:${ports.plain}/healthz` } : null),
    },
  );
  const parsed = parseGtmConfig(JSON.stringify(settings), "test", {});
  const config = { ...parsed, store: { ...parsed.store, url: stores.url } };
  const gtm = await startGtm(config, store, { clock: systemClock, log: silentLogger, metrics: createMetrics() });
  started.defer(() => gtm.stop());
  const { http, admin, dns } = gtm.addresses();
  const adminUrl = `http://127.0.0.1:${admin.port}/api/v1`;
  const get = async (path: string): Promise<unknown> => {
    const answer = await request(adminUrl + path);
    const text = await answer.body.text();
    assert.equal(answer.statusCode, 200, `GET ${path}: ${text}`);
    return JSON.parse(text);
  };
  await until(async () => {
    const { items } = (await get("/regions")) as { readonly items: readonly { reportAgeMs: number | null }[] };
    return items.every(({ reportAgeMs }) => reportAgeMs !== null);
  }, "the GTM to hear every region");
  const all = started.move();
  return {
    frontUrl: (host = "front") => `http://${host}.${ZONE}:${http.port}`,
    frontAddress: { address: "127.0.0.1", port: http.port },
    dnsServer: `127.0.0.1:${dns[0]?.port}`,
    authority: folder.authority,
    authorityFile: folder.authorityFile,
    gatewayPort: ports.gateway,
    region: (id) => {
      const parts = regions.get(id);
      assert.ok(parts !== undefined, `no region ${id}`);
      return parts;
    },
    drainAll: async (id) => {
      const answer = await request(`${adminUrl}/regions/${id}/drain`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ mode: "drain-all", comment: "a test" }),
      });
      const text = await answer.body.text();
      assert.equal(answer.statusCode, 200, text);
    },
    get,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

const gatewayOrigin = ({ address }: SteeredRegionSite, port: number): string => `https://${address}:${port}`;
