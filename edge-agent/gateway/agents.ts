/** Connections to the region's engines and to other regions' gateways: pooled by origin, one turn at a time on each. */
import { rootCertificates } from "node:tls";
import { Agent } from "undici";
import { readSecretFile } from "#shared/config.ts";
import type { GatewayConfig } from "./config.ts";

/** Under the 5 s after which uvicorn, and so vLLM, closes an idle connection. */
const KEEP_ALIVE_MS = 4_000;
const REGION_CONNECT_MS = 3_000;
const MOST_PER_REGION = 1_024;
/** Ten chains. */
const MOST_CA_BYTES = 1_048_576;

/** Whole answers are never timed; silence is, turn by turn. */
const SHARED = { pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };

export const engineAgent = ({ limits }: Pick<GatewayConfig, "limits">): Agent =>
  new Agent({ ...SHARED, connections: limits.connections_per_engine, connect: { timeout: limits.connect } });

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE */
export const regionAgent = ({ regions_ca_file }: Pick<GatewayConfig, "regions_ca_file">): Agent => {
  // Beside the public ones: some regions may have theirs from elsewhere.
  const ca =
    regions_ca_file === null ? {} : { ca: [...rootCertificates, readSecretFile(regions_ca_file, MOST_CA_BYTES)] };
  return new Agent({ ...SHARED, connections: MOST_PER_REGION, connect: { timeout: REGION_CONNECT_MS, ...ca } });
};
