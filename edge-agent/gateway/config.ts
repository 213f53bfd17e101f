/** The gateway's configuration file: what may stand in it. */
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { AgentId, PoolName, RegionId } from "#shared/ids.ts";
import { StoreSettings, storeFaults } from "#shared/store-settings.ts";
import { duration, size } from "#shared/units.ts";
import { Models } from "../config.ts";
import { addressOf, engineName } from "../engine-config.ts";

const path = z.string().min(1).max(4_096);
const LABELS = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const hostName = z.string().max(253).regex(LABELS, "must be a name such as llm.example.org: lower case, no final dot");
const network = z
  .string()
  .refine((text) => ipaddr.isValidCIDR(text), "must be a network such as 192.0.2.0/24 or 2001:db8::/32");
const address = z
  .string()
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, "must be an address with a port, such as 0.0.0.0:443");

const engineUrl = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  const fault =
    url === null || !["http:", "https:"].includes(url.protocol)
      ? "must be a URL such as http://10.0.0.5:8000"
      : url.username !== "" || url.password !== ""
        ? "must not hold a credential: clients' own go through"
        : url.pathname !== "/" || url.search !== "" || url.hash !== ""
          ? "must be an origin, without path, query or fragment"
          : null;
  if (fault !== null) context.addIssue({ code: "custom", message: fault });
});

/** An answer of five minutes is long; service managers must wait longer than that. */
const STOP_DEADLINE_MS = 300_000;

/** One engine, one front end of several data-parallel ones, or the region's own router. */
const Engine = z.strictObject({
  url: engineUrl,
  /** For `/v1/models`, where the engine asks for a key; clients bring their own. */
  api_key_file: path.nullable().default(null),
  engine: engineName.default("auto"),
  /** Turns that one replica of it runs at once, such as vLLM's --max-num-seqs; null: as many as come. */
  slots: z.int().min(1).max(65_536).nullable().default(null),
  /** Behind it a router of the region's own chooses the replica (vLLM production-stack, llm-d, SGLang, Dynamo). */
  router: z.boolean().default(false),
});

const Keys = z
  .strictObject({
    /** The GTMs' own, so that a stranger's label is the same conversation here and there. */
    identity_file: path.nullable().default(null),
    signing_file: path.nullable().default(null),
    /** Of this region alone: `gtm keys region`. Without it no ticket can be opened. */
    ticket_file: path.nullable().default(null),
    /** Of this region alone, its agents' too: signs what was measured. Without it GTMs that have a key of the region learn nothing here. */
    report_file: path.nullable().default(null),
  })
  .refine((keys) => (keys.identity_file === null) === (keys.signing_file === null), {
    path: ["identity_file"],
    message: "identity_file and signing_file belong together",
  });

const Tickets = z.strictObject({
  /**
   * Where a ticket is good for one use: at each gateway `process`, or in the whole `region`, whose gateways then ask the store
   * at each ticket, 250 ms at most.
   */
  single_use: z.enum(["process", "region"]).default("process"),
});

const Limits = z.strictObject({
  /** Of a request; beyond: 413. */
  body: size
    .pipe(
      z
        .number()
        .min(1_024)
        .max(2 ** 33),
    )
    .default(64 * 2 ** 20),
  /** A body up to so much is kept until the first byte of the answer, so that another engine or region can be asked. */
  replay: size
    .pipe(
      z
        .number()
        .min(0)
        .max(64 * 2 ** 20),
    )
    .default(2 ** 20),
  /** A body that brings nothing for so long: 408. */
  body_idle: duration.pipe(z.number().min(100).max(600_000)).default(30_000),
  /** An engine that says nothing for so long has died; at least four times the predicted time to first token. */
  engine_idle: duration.pipe(z.number().min(1_000).max(86_400_000)).default(600_000),
  /** Until an engine takes a connection. */
  connect: duration.pipe(z.number().min(50).max(60_000)).default(3_000),
  /** A client that takes nothing of a waiting answer for so long is cut. */
  reader_idle: duration.pipe(z.number().min(100).max(3_600_000)).default(120_000),
  connections: z.int().min(1).max(1_000_000).default(20_000),
  connections_per_engine: z.int().min(1).max(65_536).default(4_096),
});

export const GatewayConfig = z
  .strictObject({
    version: z.literal(1),
    region: RegionId,
    /** This gateway among the region's. */
    gateway: AgentId,
    /** The GTMs' zone. */
    zone: hostName,
    /** Pools that this region is a member of: `<pool>.<zone>` is then ours. */
    pools: z.array(PoolName).max(1_024).default([]),
    /** Further names by which clients or GTMs call this region, such as the host of its endpoint. */
    hosts: z.array(hostName).max(1_024).default([]),
    /** What engines show beside these is nobody's business. */
    paths: z
      .array(z.string().regex(/^\/[\x21-\x7e]*$/, "must begin with a slash"))
      .min(1)
      .max(64)
      .default(["/v1"]),
    store: StoreSettings.superRefine((store, context) => {
      for (const { path: at, message } of storeFaults(store))
        context.addIssue({ code: "custom", path: [...at], message });
    }),
    listen: z
      .array(z.strictObject({ address, tls: z.boolean().default(true) }))
      .min(1, "must name at least one address")
      .max(16),
    tls: z.strictObject({ cert_file: path, key_file: path }).nullable().default(null),
    keys: Keys.prefault({}),
    tickets: Tickets.prefault({}),
    /** Balancers that put a PROXY protocol v2 header before each connection; from elsewhere none is taken. */
    proxy_protocol: z.array(network).max(256).default([]),
    /** Balancers whose X-Forwarded-For counts. */
    trusted_proxies: z.array(network).max(256).default([]),
    engines: z
      .array(Engine)
      .min(1, "must name at least one engine")
      .max(256)
      .refine(
        (engines) => new Set(engines.map(({ url }) => addressOf(url))).size === engines.length,
        "an engine stands here twice",
      )
      .refine(
        (engines) => engines.length === 1 || engines.every(({ router }) => !router),
        "a router stands alone: how long a turn would wait behind it compares with nothing",
      ),
    /** What engines do not say of their models, as in the agent's configuration. */
    models: Models,
    /** When a turn is refused because it would wait far longer than the GTM expected. */
    queue: z
      .strictObject({
        /** More than so many times what was expected … */
        factor: z.number().min(1).max(1_000).default(4),
        /** … and by so much longer. */
        floor: duration.pipe(z.number().min(0).max(3_600_000)).default(5_000),
      })
      .prefault({}),
    /** A private authority of the other regions' gateways; absent: those that Node trusts. */
    regions_ca_file: path.nullable().default(null),
    limits: Limits.prefault({}),
    drain: z
      .strictObject({
        /** After SIGTERM new turns are still served for so long, while probes and clients turn away. */
        linger: duration.pipe(z.number().min(0).max(600_000)).default(10_000),
        /** After SIGTERM turns that are under way are cut. */
        deadline: duration.pipe(z.number().min(100).max(3_600_000)).default(STOP_DEADLINE_MS),
      })
      .prefault({}),
    metrics: z.strictObject({ listen: address.default("127.0.0.1:9155") }).prefault({}),
  })
  .refine(({ listen, tls }) => tls !== null || listen.every((one) => !one.tls), {
    path: ["tls"],
    message: "an address with tls needs a certificate: tls.cert_file and tls.key_file",
  })
  .refine(({ drain }) => drain.linger <= drain.deadline, {
    path: ["drain", "linger"],
    message: "must not be longer than the deadline",
  });
export type GatewayConfig = z.infer<typeof GatewayConfig>;
