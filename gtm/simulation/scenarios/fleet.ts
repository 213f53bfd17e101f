/** The regions of the scenarios, and what their replicas are: GPUs and models as steering's numbers have them. */
import { speedFromRate } from "#gtm/domain/serving.ts";
import type { Location } from "#gtm/domain/topology.ts";
import { RegionId } from "#shared/ids.ts";
import type { FleetRegion } from "../scenario.ts";
import { CHUNKED_ENGINE, type EngineOptions } from "../serving/engine-options.ts";
import { type Area, AWS_REGIONS } from "./world-cities.ts";

type AwsRegion = (typeof AWS_REGIONS)[number];

/** Roughly where the providers' published places are. */
const PLACES: Readonly<Record<AwsRegion, Location>> = {
  "us-east-1": { latitude: 39.04, longitude: -77.49 },
  "us-west-2": { latitude: 45.84, longitude: -119.7 },
  "eu-central-1": { latitude: 50.11, longitude: 8.68 },
  "eu-west-1": { latitude: 53.35, longitude: -6.26 },
  "ap-southeast-1": { latitude: 1.35, longitude: 103.82 },
  "ap-northeast-1": { latitude: 35.68, longitude: 139.69 },
};

const JURISDICTIONS: Readonly<Record<Area, string>> = { americas: "us", "europe-africa": "eu", asia: "ap" };
const AREAS: Readonly<Record<AwsRegion, Area>> = {
  "us-east-1": "americas",
  "us-west-2": "americas",
  "eu-central-1": "europe-africa",
  "eu-west-1": "europe-africa",
  "ap-southeast-1": "asia",
  "ap-northeast-1": "asia",
};

const THREE: readonly AwsRegion[] = ["us-east-1", "eu-central-1", "ap-southeast-1"];

/** Twelve replicas in three regions of four, or in six of two. */
export const namesOf = (regions: 3 | 6): readonly AwsRegion[] => (regions === 3 ? THREE : AWS_REGIONS);
const REPLICAS = 12;

/** A published rate holds at the context it was measured at: what was needed for attention is taken out of it. */
const speedAt = (tokensPerSecond: number, contextTokens: number) =>
  speedFromRate(tokensPerSecond * (1 + contextTokens / ATTENTION_EQUALS_LINEAR));
/** As `speedFromRate` assumes. */
const ATTENTION_EQUALS_LINEAR = 131_072;

/**
 * Llama-3-70B at fp16 on eight H100 of 80 GB: 9 700 tokens/s of prefill at 8 000 tokens of context. KV memory is derived:
 * 0.9 of 640 GB, less 141 GB of weights and 3 GB a GPU for activations and graphs, at 327 680 bytes a token: 1.25 million.
 * Loading takes 80 s. How fast it decodes is chosen, not measured.
 */
export const H100: EngineOptions = {
  ...CHUNKED_ENGINE,
  speed: speedAt(9_700, 8_000),
  kvTokens: 1_250_000,
  coldStartMs: 80_000,
};

/** The same model on eight A100 of 80 GB: 5 300 tokens/s. */
export const A100: EngineOptions = { ...H100, speed: speedAt(5_300, 8_000) };

/**
 * Llama-3.1-8B at fp16 on one L4 of 24 GB: 1 700 tokens/s. KV memory: 0.9 of 24 GB, less 16 GB of weights and 1 GB beside
 * them, at 131 072 bytes a token: 35 000. Loading takes 25 s.
 */
export const L4: EngineOptions = {
  ...CHUNKED_ENGINE,
  speed: speedFromRate(1_700),
  kvTokens: 35_000,
  coldStartMs: 25_000,
};

/** The same model on one A10G of 24 GB, by the two GPUs' dense FP16 TFLOPS: 70 to the L4's 121. */
export const A10G: EngineOptions = { ...L4, speed: speedFromRate((1_700 * 70) / 121) };

/** @param engineOf by the region's area */
export const fleetOf = (regions: 3 | 6, engineOf: (area: Area) => EngineOptions): readonly FleetRegion[] =>
  namesOf(regions).map((name) => ({
    site: {
      id: RegionId.parse(name),
      location: PLACES[name],
      jurisdiction: JURISDICTIONS[AREAS[name]],
      endpoint: { url: `https://${name}.example.org`, ipv4: [], ipv6: [] },
      alpn: [],
      hasAffinity: true,
      hasGateway: true,
    },
    replicas: REPLICAS / regions,
    engine: engineOf(AREAS[name]),
    placement: "loaded",
  }));
