/** What may stand in the GTM's configuration file; unknown keys are faults. */
import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";
import { IDENTITY_SOURCES } from "#gtm/domain/identity-source.ts";
import { InstanceId, ModelId, PoolName, RegionId } from "#shared/ids.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { duration, size } from "#shared/units.ts";
import { AdminAuth } from "./admin-settings.ts";
import { Nsid, RateLimitSettings, TcpSettings } from "./dns-limit-settings.ts";
import { addressIn, DnsListen, DnsWorkers } from "./dns-listen-settings.ts";
import { FrontTls, PoolModeSetting, TicketHeader } from "./front-settings.ts";
import { KeySettings } from "./key-settings.ts";
import { cidr } from "./network.ts";
import { PolicySettings } from "./policy-settings.ts";
import { RecordSettings } from "./record-settings.ts";
import { SafetySettings } from "./safety-settings.ts";

const path = z.string().min(1).max(4_096);
const ipv4 = z.string().refine(isIPv4, "must be an IPv4 address");
const ipv6 = z.string().refine(isIPv6, "must be an IPv6 address");
const address = z.string().refine((text) => isIPv4(text) || isIPv6(text), "must be an IP address");

/** "0.0.0.0:8080" or "[::]:8080" */
const listen = z.string().transform((text, context) => {
  const at = addressIn(text);
  if (at !== null) return at;
  context.addIssue({ code: "custom", message: "must be an address with a port, such as 127.0.0.1:8080 or [::]:53" });
  return z.NEVER;
});

/** A domain name in lower case, without the dot at the end; zoneFaults says the rest. */
const domain = z.string().min(1).max(253);

const origin = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  const isOrigin =
    url !== null && ["http:", "https:"].includes(url.protocol) && url.origin === text && url.username === "";
  if (!isOrigin) {
    context.addIssue({ code: "custom", message: "must be an origin such as https://eu.example.org, without a path" });
  }
});

const httpUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.hash === "";
}, "must be a URL such as https://192.0.2.10/healthz");

const location = z.strictObject({ lat: z.number().min(-90).max(90), lon: z.number().min(-180).max(180) });

const NameServer = z.strictObject({ name: domain, a: z.array(ipv4).default([]), aaaa: z.array(ipv6).default([]) });

const Dns = z.strictObject({
  listen: z.array(DnsListen).min(1),
  workers: DnsWorkers,
  /** Whether datagrams are received and sent several at a time, where the system can (Linux, through libc). */
  batches: z.boolean().default(true),
  zone: domain,
  ns: z.array(NameServer),
  soa: z.strictObject({ rname: domain, serial: z.int().min(0).max(0xffff_ffff).default(1) }),
  default_pool: PoolName,
  /** The apex answers A and AAAA like the default pool. */
  apex_addresses: z.boolean().default(false),
  why: z.strictObject({ allow: z.array(cidr) }).prefault({ allow: [] }),
  rate_limit: RateLimitSettings.prefault({}),
  tcp: TcpSettings.prefault({}),
  nsid: Nsid,
  /** What the zone carries beside the names that the GTM makes. */
  records: z.array(RecordSettings).max(10_000).default([]),
});

const Http = z.strictObject({
  listen,
  /** What front.<zone> answers. */
  addresses: z.array(address).default([]),
  /** For hosts that are no pool's name; absent: 421. */
  default_pool: PoolName.nullable().default(null),
  trusted_proxies: z.array(z.union([cidr, address])).default([]),
  tenant_header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header's name")
    .nullable()
    .default(null),
  /** Whether answers name <label>.c.<zone>, which shows in passive DNS. */
  labels: z.boolean().default(true),
  /** Where a request may say which conversation it belongs to, first come first; what is left out is not heard. */
  identity: z
    .array(z.enum(IDENTITY_SOURCES))
    .refine((sources) => new Set(sources).size === sources.length, "must name each source once")
    .default([...IDENTITY_SOURCES]),
  /** What clients drop at a redirect beside Authorization, Cookie, x-api-key and api-key. */
  ticket_headers: z.array(TicketHeader).max(16).default([]),
  /** Absent: plain HTTP, as behind a balancer that ends TLS. */
  tls: FrontTls.nullable().default(null),
  /** Whether trusted proxies begin each connection with a PROXY header, version 2. */
  proxy_protocol: z.boolean().default(false),
  /** A private authority of the regions that requests are forwarded to; absent: those that Node trusts. */
  regions_ca_file: z.string().min(1).max(4_096).nullable().default(null),
});

const Probe = z.strictObject({
  url: httpUrl,
  interval: duration.pipe(z.number().min(100)).default(1_000),
  timeout: duration.pipe(z.number().min(10)).default(800),
  fall: z.int().min(1).max(100).default(3),
  rise: z.int().min(1).max(100).default(2),
});

const Region = z.strictObject({
  id: RegionId,
  location: location.nullable().default(null),
  jurisdiction: z.string().min(1).max(64).nullable().default(null),
  endpoint: z.strictObject({
    /** Absent: https://<region>.r.<zone>. */
    url: origin.nullable().default(null),
    a: z.array(ipv4).default([]),
    aaaa: z.array(ipv6).default([]),
    /** What the gateway speaks over TLS, preferred first; with it on all regions of a pool, its names have HTTPS records. */
    alpn: z.array(z.enum(["h3", "h2", "http/1.1"])).default([]),
  }),
  /** Absent: the region is believed by its reports alone. */
  probe: Probe.nullable().default(null),
  /** Whether the in-region router keeps conversations on a replica. */
  affinity: z.boolean().default(false),
  /** Whether an edge agent's gateway stands before its engines: it opens tickets and reports measured turns. */
  gateway: z.boolean().default(false),
});

const Model = z.strictObject({
  id: ModelId,
  aliases: z.array(z.string().min(1).max(256)).default([]),
  weight_bytes: size.nullable().default(null),
  cold_start: duration.nullable().default(null),
});

const LastResort = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("regions"), order: z.array(RegionId).min(1) }),
  z.strictObject({ kind: z.literal("addresses"), a: z.array(ipv4).default([]), aaaa: z.array(ipv6).default([]) }),
  z.strictObject({ kind: z.literal("nodata") }),
  z.strictObject({ kind: z.literal("servfail") }),
]);

const Pool = z.strictObject({
  name: PoolName,
  /** The first prices the pool's name. */
  models: z.array(ModelId).min(1),
  regions: z.array(RegionId).min(1),
  /** Where its data may go, also when all else fails; absent: anywhere. */
  allow: z
    .strictObject({ jurisdictions: z.array(z.string().min(1).max(64)).min(1) })
    .nullable()
    .default(null),
  last_resort: LastResort.prefault({ kind: "servfail" }),
  /** What its DNS name answers with: the regions, or the GTMs' own HTTP addresses. */
  answer: z.enum(["regions", "front"]).default("regions"),
  paths: z
    .array(z.string().regex(/^\/[^?#]*$/, "must begin with a slash"))
    .min(1)
    .default(["/v1"]),
  /** `auto` forwards what cannot survive a redirect. */
  mode: PoolModeSetting.default("redirect"),
  /** Whether its regions share what the Responses API stores; else a turn that continues a response goes where that one is. */
  shared_responses: z.boolean().default(false),
  /** `shadow`: decisions are made and recorded, and answers go to the nearest region that may serve, as without affinity. */
  steering: z.enum(["enforce", "shadow"]).default("enforce"),
});

const StaticSubnet = z.strictObject({
  cidr,
  lat: z.number().min(-90).max(90),
  lon: z.number().min(-180).max(180),
  name: z.string().min(1).max(64).nullable().default(null),
});

export const GtmSettings = z.strictObject({
  version: z.literal(1),
  instance: InstanceId,
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
  store: StoreSettings.extend({
    /** What is known, kept for a start while the store is away; absent: such a GTM knows nothing. */
    world_file: path.nullable().default(null),
  }).prefault({ url: "memory:" }),
  keys: KeySettings.prefault({}),
  dns: Dns,
  http: Http,
  admin: z.strictObject({
    listen,
    auth: AdminAuth.prefault({}),
  }),
  metrics: z.strictObject({ listen }),
  regions: z.array(Region).min(1).max(256),
  models: z.array(Model).min(1).max(1_024),
  pools: z.array(Pool).min(1).max(256),
  policy: PolicySettings.prefault({}),
  safety: SafetySettings.prefault({}),
  geo: z
    .strictObject({
      provider: z.enum(["builtin", "static"]).default("builtin"),
      static: z.array(StaticSubnet).default([]),
    })
    .prefault({}),
});
export type GtmSettings = z.output<typeof GtmSettings>;
