/** Source texts that offend, at least one of each kind, and texts that only look as if they did. */

type Planted = {
  readonly what: string;
  readonly path: string;
  readonly text: string;
  readonly says: RegExp;
};

export const PLANTED: readonly Planted[] = [
  { what: "a file outside every layer", path: "lib/x.ts", text: "", says: /belongs to no layer/ },
  { what: "a new folder of gtm", path: "gtm/utils/x.ts", text: "", says: /belongs to no layer/ },
  {
    what: "a folder above",
    path: "gtm/domain/x.ts",
    text: 'import { steer } from "#gtm/steering/steer.ts";',
    says: /layer/,
  },
  {
    what: "the same by a relative path",
    path: "gtm/domain/x.ts",
    text: 'import { steer } from "../steering/steer.ts";',
    says: /layer/,
  },
  { what: "node: in domain", path: "gtm/domain/x.ts", text: 'import { hash } from "node:crypto";', says: /layer/ },
  { what: "zod in steering", path: "gtm/steering/x.ts", text: 'import { z } from "zod";', says: /layer/ },
  {
    what: "more of shared than ids",
    path: "gtm/domain/x.ts",
    text: 'import type { Store } from "#shared/store.ts";',
    says: /layer/,
  },
  {
    what: "a name that only begins like ids.ts",
    path: "gtm/domain/x.ts",
    text: 'import "#shared/ids.ts-x";',
    says: /layer/,
  },
  {
    what: "a type",
    path: "shared/x.ts",
    text: 'import type { Region } from "#gtm/domain/region.ts";',
    says: /layer/,
  },
  {
    what: "a type inside an import",
    path: "shared/x.ts",
    text: 'type R = import("#gtm/domain/region.ts").Region;',
    says: /layer/,
  },
  {
    what: "an export from",
    path: "shared/x.ts",
    text: 'export { steer } from "#gtm/steering/steer.ts";',
    says: /layer/,
  },
  { what: "an export of all", path: "shared/x.ts", text: 'export * from "#gtm/steering/steer.ts";', says: /layer/ },
  {
    what: "an import for its effect",
    path: "gtm/steering/x.ts",
    text: 'import "#gtm/datalayer/geoip.ts";',
    says: /layer/,
  },
  {
    what: "a dynamic import",
    path: "gtm/steering/x.ts",
    text: 'await import("#gtm/datalayer/geoip.ts");',
    says: /layer/,
  },
  {
    what: "a dynamic import with options",
    path: "gtm/steering/x.ts",
    text: 'await import("../../x.json", { with: {} });',
    says: /layer/,
  },
  {
    what: "an import over many lines",
    path: "gtm/domain/x.ts",
    text: 'import {\n  a,\n  type B, // why\n} from "zod";',
    says: /layer/,
  },
  { what: "a computed import", path: "gtm/main.ts", text: "await import(name);", says: /computed/ },
  { what: "an import by template", path: "gtm/main.ts", text: "await import(`zod`);", says: /computed/ },
  {
    what: "a built-in by its side door",
    path: "gtm/domain/x.ts",
    text: 'process.getBuiltinModule("fs");',
    says: /layer/,
  },
  {
    what: "the rest of steering",
    path: "gtm/datalayer/x.ts",
    text: 'import { decide } from "#gtm/steering/decide.ts";',
    says: /layer/,
  },
  {
    what: "a wire in the datalayer",
    path: "gtm/datalayer/x.ts",
    text: 'import { limit } from "#gtm/wire/dns/limit.ts";',
    says: /layer/,
  },
  {
    what: "the datalayer in a wire",
    path: "gtm/wire/dns/x.ts",
    text: 'import { locate } from "#gtm/datalayer/geoip.ts";',
    says: /layer/,
  },
  {
    what: "another wire",
    path: "gtm/wire/http/x.ts",
    text: 'import { guard } from "../admin/guard.ts";',
    says: /layer/,
  },
  {
    what: "the simulation in a wire",
    path: "gtm/wire/admin/x.ts",
    text: 'import "#gtm/simulation/clock.ts";',
    says: /layer/,
  },
  {
    what: "a wire in the simulation",
    path: "gtm/simulation/x.ts",
    text: 'import "#gtm/wire/dns/server.ts";',
    says: /layer/,
  },
  {
    what: "gtm in the agent",
    path: "edge-agent/agent.ts",
    text: 'import { Region } from "#gtm/domain/region.ts";',
    says: /layer/,
  },
  {
    what: "the agent in gtm",
    path: "gtm/main.ts",
    text: 'import { startAgent } from "#edge-agent/main.ts";',
    says: /layer/,
  },
  {
    what: "I/O in an engine",
    path: "edge-agent/engines/vllm.ts",
    text: 'import { readFile } from "node:fs/promises";',
    says: /layer/,
  },
  {
    what: "scraping in an engine",
    path: "edge-agent/engines/vllm.ts",
    text: 'import "../scrape.ts";',
    says: /layer/,
  },
  { what: "test in a program", path: "gtm/main.ts", text: 'import "#test/support/builders.ts";', says: /layer/ },
  {
    what: "test in the demo",
    path: "deploy/demo/main.ts",
    text: 'import "#test/support/builders.ts";',
    says: /layer/,
  },
  { what: "a package that nobody allowed", path: "shared/x.ts", text: 'import _ from "lodash";', says: /layer/ },
  {
    what: "a package's inner path",
    path: "gtm/wire/dns/x.ts",
    text: 'import { cors } from "hono/cors";',
    says: /layer/,
  },
  {
    what: "prom-client by another door",
    path: "shared/x.ts",
    text: 'import { Registry } from "prom-client";',
    says: /only by shared\/metrics\.ts/,
  },
  {
    what: "dns2 by another door",
    path: "gtm/wire/dns/server.ts",
    text: 'import DNS from "dns2";',
    says: /only by gtm\/wire\/dns\/record-data\.ts/,
  },
  {
    what: "dns2's sockets in the check of DNS",
    path: "gtm/dns-check/ask.ts",
    text: 'import DNS from "dns2";',
    says: /only by .*gtm\/dns-check\/message\.ts/,
  },
  {
    what: "a server's code in the client that judges it",
    path: "gtm/dns-check/message.ts",
    text: 'import { encodeImage } from "#gtm/wire/dns/codec.ts";',
    says: /layer/,
  },
  {
    what: "hono's family outside the admin API",
    path: "edge-agent/gateway/x.ts",
    text: 'import "@hono/node-server";',
    says: /layer/,
  },
  {
    what: "hono in the front door, which answers to Node's response",
    path: "gtm/wire/http/x.ts",
    text: 'import { Hono } from "hono";',
    says: /layer/,
  },
  {
    what: "geoip-lite by another door",
    path: "gtm/datalayer/x.ts",
    text: 'await import("geoip-lite");',
    says: /only by gtm\/datalayer\/geoip\.ts/,
  },
  {
    what: "geoip-lite when its door is loaded",
    path: "gtm/datalayer/geoip.ts",
    text: 'import geoip from "geoip-lite";',
    says: /loaded at start/,
  },
  {
    what: "ulid by another door",
    path: "gtm/main.ts",
    text: 'import { ulid } from "ulid";',
    says: /only by gtm\/decision-id\.ts/,
  },
  {
    what: "the clock in domain",
    path: "gtm/domain/x.ts",
    text: "const now = Date.now();",
    says: /Date\.now in code that must be pure/,
  },
  {
    what: "dice in steering",
    path: "gtm/steering/x.ts",
    text: "const u = Math.random();",
    says: /Math\.random in code/,
  },
  {
    what: "a request in an engine",
    path: "edge-agent/engines/x.ts",
    text: "await fetch(url);",
    says: /fetch\( in code/,
  },
  {
    what: "a wire in the configuration",
    path: "gtm/config/x.ts",
    text: 'import "#gtm/wire/dns/server.ts";',
    says: /layer/,
  },
  {
    what: "undici in a store",
    path: "gtm/datalayer/world-source.ts",
    text: 'import { Agent } from "undici";',
    says: /undici is imported only by/,
  },
];

export const HARMLESS: readonly Omit<Planted, "says">[] = [
  {
    what: "an import in a comment",
    path: "gtm/domain/x.ts",
    text: '// import { z } from "zod";\n/* import "zod"; */',
  },
  {
    what: "an address with two slashes before an import",
    path: "shared/x.ts",
    text: 'const a = "http://x"; import "./y.ts";',
  },
  { what: "a word that ends in from", path: "gtm/domain/x.ts", text: 'export const a = Array.from("zod");' },
  {
    what: "the types of what is loaded at start",
    path: "gtm/datalayer/geoip.ts",
    text: 'import type { Lookup } from "geoip-lite";\nawait import("geoip-lite");',
  },
  {
    what: "everything in the demo",
    path: "deploy/demo/main.ts",
    text: 'import "#gtm/main.ts"; import "#edge-agent/main.ts"; import "undici";',
  },
  {
    what: "everything in a test",
    path: "test/x.test.ts",
    text: 'import "prom-client"; import "#deploy/demo/main.ts"; await import(name);',
  },
  {
    what: "time and chance in words",
    path: "gtm/domain/x.ts",
    text: 'const message = "Date.now() is not allowed"; // nor Math.random',
  },
  {
    what: "the composition root's own files",
    path: "gtm/decision-id.ts",
    text: 'import { monotonicFactory } from "ulid";',
  },
];
