/** Which way imports point: one row a layer, one row a dependency with a single door. The first row that fits a file is its layer. */

export type Layer = {
  /** Paths from the top of the repository: a folder with its slash, a file, or what file names begin with. */
  readonly files: readonly string[];
  /** The same, for what it may import; beside them npm packages by name, and `node:`. */
  readonly may: readonly string[];
};

/** @hono/node-server and @hono/zod-openapi are hono's. */
export const FAMILIES: Readonly<Record<string, string>> = {
  "@hono/node-server": "hono",
  "@hono/zod-openapi": "hono",
};

/** From payloads to the report, without I/O. */
const AGENT_ARITHMETIC: readonly string[] = [
  "edge-agent/engines/",
  "edge-agent/gpu/",
  "edge-agent/exposition",
  "edge-agent/quantile.ts",
  "edge-agent/history.ts",
  "edge-agent/cache-tiers.ts",
  "edge-agent/drift.ts",
  "edge-agent/load-time.ts",
  "edge-agent/rates",
  "edge-agent/prefill-confidence.ts",
  "edge-agent/speed.ts",
  "edge-agent/backlog.ts",
  "edge-agent/endpoint.ts",
  "edge-agent/replica-report.ts",
  "edge-agent/model-report.ts",
  "edge-agent/sound-model.ts",
  "edge-agent/assemble",
];

export const LAYERS: readonly Layer[] = [
  {
    files: ["shared/"],
    may: ["shared/", "zod", "ioredis", "prom-client", "pino", "yaml", "jose", "canonicalize", "ipaddr.js", "node:"],
  },
  { files: ["gtm/domain/"], may: ["gtm/domain/", "shared/ids.ts"] },
  { files: ["gtm/steering/"], may: ["gtm/steering/", "gtm/domain/", "shared/ids.ts"] },
  { files: ["gtm/simulation/"], may: ["gtm/simulation/", "gtm/steering/", "gtm/domain/", "shared/"] },
  {
    files: ["gtm/datalayer/"],
    may: [
      "gtm/datalayer/",
      "gtm/domain/",
      "gtm/steering/ports.ts",
      "shared/",
      "geoip-lite",
      "mmdb-lib",
      "undici",
      "ipaddr.js",
      "lru-cache",
      "zod",
      "node:",
    ],
  },
  {
    files: ["gtm/wire/dns/"],
    may: ["gtm/wire/dns/", "gtm/steering/", "gtm/domain/", "shared/", "dns2", "lru-cache", "node:"],
  },
  {
    files: ["gtm/dns-workers/"],
    may: [
      "gtm/dns-workers/",
      "gtm/wire/dns/",
      "gtm/datalayer/",
      "gtm/steering/",
      "gtm/domain/",
      "gtm/decision-id.ts",
      "shared/",
      "node:",
    ],
  },
  {
    files: ["gtm/wire/http/"],
    may: ["gtm/wire/http/", "gtm/steering/", "gtm/domain/", "shared/", "undici", "node:"],
  },
  // In the browser: of the API it takes the shapes of answers.
  {
    files: ["gtm/wire/admin/dashboard/app/"],
    may: ["gtm/wire/admin/", "preact", "uplot", "d3-geo", "topojson-client", "world-atlas"],
  },
  {
    files: ["gtm/wire/admin/"],
    may: [
      "gtm/wire/admin/",
      "gtm/steering/",
      "gtm/domain/",
      "shared/",
      "hono",
      "undici",
      "ipaddr.js",
      "lru-cache",
      "esbuild",
      "jose",
      "zod",
      "node:",
    ],
  },
  { files: ["gtm/cli/"], may: ["gtm/", "shared/", "commander", "zod", "node:"] },
  {
    files: ["gtm/config/"],
    may: ["gtm/config/", "gtm/steering/", "gtm/domain/", "gtm/keys/", "shared/", "ipaddr.js", "zod", "node:"],
  },
  {
    files: ["gtm/doctor/"],
    may: [
      "gtm/doctor/",
      "gtm/datalayer/",
      "gtm/domain/",
      "gtm/keys/",
      "gtm/config.ts",
      "gtm/config-fingerprint.ts",
      "gtm/version.ts",
      "gtm/cli/quantity.ts",
      // One wording of what mends an agent.
      "gtm/wire/admin/agent-remedies.ts",
      "gtm/dns-check/",
      "shared/",
      "zod",
      "node:",
    ],
  },
  {
    files: ["gtm/dns-check/"],
    may: [
      "gtm/dns-check/",
      "gtm/domain/",
      "gtm/doctor/examine.ts",
      "gtm/doctor/finding.ts",
      "gtm/wire/dns/model-slug.ts",
      "shared/",
      "dns2",
      "node:",
    ],
  },
  {
    files: ["gtm/reload/"],
    may: [
      "gtm/reload/",
      "gtm/config/",
      "gtm/config.ts",
      "gtm/datalayer/degradations.ts",
      "gtm/wire/admin/configuration-port.ts",
      "shared/",
      "node:",
    ],
  },
  { files: ["gtm/keys/"], may: ["gtm/keys/", "shared/", "node:"] },
  // The composition root: main, configuration, and what they are made of; no further folder.
  { files: ["gtm/*"], may: ["gtm/", "shared/", "package.json", "commander", "ulid", "ipaddr.js", "zod", "node:"] },
  { files: AGENT_ARITHMETIC, may: [...AGENT_ARITHMETIC, "shared/ids.ts", "shared/report.ts"] },
  {
    files: ["edge-agent/"],
    may: ["edge-agent/", "shared/", "package.json", "undici", "commander", "ipaddr.js", "zod", "node:"],
  },
  { files: ["deploy/"], may: ["deploy/", "gtm/", "edge-agent/", "shared/", "npm:", "node:"] },
  { files: ["test/"], may: ["test/", "deploy/", "gtm/", "edge-agent/", "shared/", "npm:", "node:"] },
];

export type Door = {
  readonly dependency: string;
  /** Who may import it, beside deploy/ and test/. */
  readonly files: readonly string[];
  /** Loading it costs so much that it is done at start and only where asked for; types cost nothing. */
  readonly isDynamicOnly?: true;
};

export const DOORS: readonly Door[] = [
  // Over 100 MB once loaded.
  { dependency: "geoip-lite", files: ["gtm/datalayer/geoip.ts"], isDynamicOnly: true },
  { dependency: "dns2", files: ["gtm/wire/dns/record-data.ts", "gtm/dns-check/message.ts"] },
  { dependency: "ioredis", files: ["shared/store"] },
  { dependency: "prom-client", files: ["shared/metrics.ts"] },
  { dependency: "pino", files: ["shared/logger.ts"] },
  { dependency: "yaml", files: ["shared/config"] },
  { dependency: "canonicalize", files: ["shared/region-signature.ts"] },
  // Its program makes the page when somebody first opens it.
  { dependency: "esbuild", files: ["gtm/wire/admin/dashboard/bundle.ts"], isDynamicOnly: true },
  { dependency: "ulid", files: ["gtm/decision-id.ts"] },
  {
    dependency: "ipaddr.js",
    files: [
      "shared/client-address.ts",
      "gtm/datalayer/",
      "gtm/wire/http/",
      "gtm/wire/admin/",
      "gtm/config",
      "edge-agent/",
    ],
  },
  // The datalayer speaks HTTP to nobody but the regions it probes.
  {
    dependency: "undici",
    files: ["gtm/datalayer/probe", "gtm/wire/http/", "gtm/wire/admin/", "edge-agent/"],
  },
  { dependency: "jose", files: ["shared/ticket.ts", "gtm/wire/admin/oidc"] },
  { dependency: "lru-cache", files: ["gtm/datalayer/", "gtm/wire/"] },
  { dependency: "commander", files: ["gtm/cli/", "gtm/main.ts", "edge-agent/main.ts"] },
];

/** Folders where time, chance and the world come in as arguments. */
export const PURE: readonly string[] = ["gtm/domain/", "gtm/steering/", ...AGENT_ARITHMETIC];
