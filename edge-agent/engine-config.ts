/** How engines and exporters are named in the configuration and in watched files. */
import { z } from "zod";
import { ModelId } from "#shared/ids.ts";
import { duration } from "#shared/units.ts";
import { ENGINES, isKnownName } from "./engines/known.ts";

export const path = z.string().min(1).max(4_096);

export const httpUrl = z.string().superRefine((text, context) => {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    context.addIssue({ code: "custom", message: "must be a URL such as http://10.0.0.5:8000" });
  } else if (url.username !== "" || url.password !== "") {
    context.addIssue({ code: "custom", message: "must not hold a credential; use api_key_file" });
  } else if (url.search !== "" || url.hash !== "") {
    context.addIssue({ code: "custom", message: "must not have a query or a fragment" });
  }
});

export const engineName = z.string().superRefine((name, context) => {
  const names = ["auto", ...ENGINES.map((engine) => engine.name)];
  if (!names.includes(name)) context.addIssue({ code: "custom", message: `must be one of ${names.join(", ")}` });
});

const metricName = z.string().regex(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$/, "must be the name of a metric");

/** With or without the suffix of a counter or histogram. */
const knownName = metricName.refine(
  isKnownName,
  "must be a name that an engine is read by, such as vllm:num_requests_waiting",
);

export const access = {
  /** Certificates of the authorities that are believed for it, PEM. */
  ca_file: path.nullable().default(null),
  /** Shown to everything there, where a proxy asks for it. Read again when it changes. */
  bearer_token_file: path.nullable().default(null),
};

const manner = {
  ...access,
  engine: engineName.default("auto"),
  /** What clients call the model, where the engine does not say it or says a name of its own. */
  model: ModelId.nullable().default(null),
  /** Names that were changed on the way: what stands on the page, and which name that an engine is read by it stands for. */
  aliases: z.record(metricName, knownName).default({}),
  /** Its GPUs, by which a model's memory is known where the region serves several. */
  gpu_uuids: z.array(z.string().min(1).max(128)).max(1_024).default([]),
  /** The same by how the names of its pods or containers begin, as the exporter of GPUs has them. */
  gpu_pods: z.array(z.string().min(1).max(253)).max(64).default([]),
  /** For the engine's own API, where it asks for a key. Read again when it changes. */
  api_key_file: path.nullable().default(null),
};

/** One engine, as the configuration and watched files have it. */
export const NamedEngine = z.strictObject({
  /** Origin of one replica or one front end of several; never a load balancer over several front ends. */
  url: httpUrl,
  ...manner,
});

/** What a watched file holds. */
export const EngineFile = z.strictObject({ engines: z.array(NamedEngine).max(256) });

const LEAST_REFRESH_MS = 1_000;

export const Engine = z
  .strictObject({
    url: httpUrl.nullable().default(null),
    /** As url, with a name of which each address is one replica; the name is asked again each `refresh`. */
    dns: httpUrl.nullable().default(null),
    refresh: duration.pipe(z.number().min(LEAST_REFRESH_MS, "must be at least 1 s")).default(5_000),
    /** A file with `engines:` of its own, read again when it changes. */
    file: path.nullable().default(null),
    ...manner,
  })
  .superRefine(({ url, dns, file, ...how }, context) => {
    if ([url, dns, file].filter((place) => place !== null).length !== 1) {
      context.addIssue({ code: "custom", message: "must have one of url, dns and file" });
    }
    const isMannered = how.ca_file ?? how.bearer_token_file ?? how.api_key_file ?? how.model;
    const hasGpus = how.gpu_uuids.length + how.gpu_pods.length > 0;
    const hasWords = how.engine !== "auto" || Object.keys(how.aliases).length > 0 || hasGpus;
    if (file !== null && (isMannered !== null || hasWords)) {
      context.addIssue({ code: "custom", message: "must not say how engines of a file are asked; the file does" });
    }
  });
export type EngineConfig = z.infer<typeof Engine>;

/** `host:port` as replica ids begin with it. @returns null where the text is no URL */
export const addressOf = (url: string): string | null => {
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  const usual = parsed.protocol === "https:" ? "443" : "80";
  return `${parsed.hostname}:${parsed.port === "" ? usual : parsed.port}`;
};
