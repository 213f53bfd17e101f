/** The agent's configuration file: what may stand in it. */
import { z } from "zod";
import { AgentId, ModelId, RegionId } from "#shared/ids.ts";
import { StoreSettings, storeFaults } from "#shared/store-settings.ts";
import { duration, size } from "#shared/units.ts";
import { access, addressOf, Engine, httpUrl, path } from "./engine-config.ts";

/** Reports live for 30 s: three must fit. More often than this llm-d's pollers failed in the field. */
const LEAST_INTERVAL_MS = 200;
const MOST_INTERVAL_MS = 10_000;

const listenAddress = z
  .string()
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, "must be an address with a port, such as 127.0.0.1:9154");

const Gpus = z
  .strictObject({
    /** The whole address of one exporter's page. */
    dcgm_url: httpUrl.nullable().default(null),
    /** Pages of several hosts' exporters: dcgm-exporter or AMD's device-metrics-exporter, told apart by what is on them. */
    exporters: z
      .array(z.strictObject({ url: httpUrl, ...access }))
      .max(256)
      .default([]),
    /** The command. */
    nvidia_smi: path.nullable().default(null),
    /** Of the GPUs that serve; empty: all of the host. */
    uuids: z.array(z.string().min(1).max(128)).max(1_024).default([]),
  })
  .superRefine((gpus, context) => {
    const told = [gpus.dcgm_url !== null, gpus.exporters.length > 0, gpus.nvidia_smi !== null];
    if (told.filter(Boolean).length !== 1) {
      context.addIssue({ code: "custom", message: "must have one of dcgm_url, exporters and nvidia_smi" });
    }
  });

const Model = z.strictObject({
  id: ModelId,
  /** For engines and regions that would have to load it. */
  weight_bytes: size.nullable().default(null),
  cold_start: duration.nullable().default(null),
  /** Of one replica, until enough prefills have been measured. */
  prefill_tokens_per_second: z.number().positive().max(1e9).nullable().default(null),
  /** Of one replica; speaks louder than the engine, which is wrong for hybrid models. */
  kv_capacity_tokens: z.int().positive().max(1e12).nullable().default(null),
});

export const Models = z
  .array(Model)
  .max(1_024)
  .default([])
  .superRefine((models, context) => {
    const seen = new Set<string>();
    for (const [at, { id }] of models.entries()) {
      if (seen.has(id)) context.addIssue({ code: "custom", path: [at, "id"], message: `${id} stands here twice` });
      seen.add(id);
    }
  });

export const AgentConfig = z.strictObject({
  version: z.literal(1),
  region: RegionId,
  agent: AgentId,
  store: StoreSettings.superRefine((store, context) => {
    for (const { path: at, message } of storeFaults(store))
      context.addIssue({ code: "custom", path: [...at], message });
  }),
  report: z
    .strictObject({
      interval: duration
        .pipe(
          z
            .number()
            .min(LEAST_INTERVAL_MS, `must be at least ${LEAST_INTERVAL_MS} ms`)
            .max(MOST_INTERVAL_MS, `must be at most ${MOST_INTERVAL_MS / 1_000} s, or reports expire`),
        )
        .default(1_000),
      key_file: path.nullable().default(null),
    })
    .prefault({}),
  scrape: z
    .strictObject({
      /** One source's answer must be whole by then, or it is not known this round. */
      deadline: duration
        .pipe(z.number().min(100, "must be at least 100 ms").max(10_000, "must be at most 10 s"))
        .default(1_500),
      /** How many engines are asked at once. */
      concurrency: z.int().min(1).max(256).default(64),
    })
    .prefault({}),
  engines: z
    .array(Engine)
    .min(1, "must name at least one engine")
    .max(256)
    .superRefine((engines, context) => {
      const seen = new Set<string>();
      for (const [at, { url }] of engines.entries()) {
        const address = url === null ? null : addressOf(url);
        if (address !== null && seen.has(address)) {
          context.addIssue({ code: "custom", path: [at, "url"], message: `${address} stands here twice` });
        }
        if (address !== null) seen.add(address);
      }
    }),
  /** Metrics listeners of the region's gateways, all of them: what they know exactly wins over what is scraped. */
  gateways: z
    .array(z.strictObject({ url: httpUrl }))
    .max(64)
    .default([])
    .refine(
      (gateways) => new Set(gateways.map(({ url }) => addressOf(url))).size === gateways.length,
      "a gateway stands here twice",
    ),
  gpus: Gpus.nullable().default(null),
  models: Models,
  metrics: z.strictObject({ listen: listenAddress.default("127.0.0.1:9154") }).prefault({}),
});
export type AgentConfig = z.infer<typeof AgentConfig>;
