/** Engines and exporters as the configuration names them, made into what is asked. */
import { lookup } from "node:dns/promises";
import type { Clock } from "#shared/clock.ts";
import { readSecretFile } from "#shared/config.ts";
import type { Logger } from "#shared/logger.ts";
import type { AgentConfig } from "./config.ts";
import { type Manner, type Source, together } from "./discovery.ts";
import { dnsSource, type Resolve } from "./dns-source.ts";
import { createDoor, NO_ACCESS } from "./door.ts";
import { addressOf, type EngineConfig } from "./engine-config.ts";
import { fileSource, placeOf } from "./file-source.ts";
import type { GpuTarget } from "./scrape.ts";

/** Through the system's resolver, which knows search domains and the hosts file, too. */
const allAddresses: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

export type Sources = {
  readonly engines: Source;
  /** Resolves once every name has been asked for the first time. */
  readonly ready: () => Promise<void>;
};

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE for a credential that cannot be read */
export const engineSources = (
  { engines }: AgentConfig,
  { clock, log, resolve = allAddresses }: { clock: Clock; log: Logger; resolve?: Resolve },
): Sources => {
  const waits: (() => Promise<void>)[] = [];
  const onChange = (source: string, count: number): void => log.info("engines.found", { source, engines: count });
  const sources = engines.map((engine): Source => {
    requireReadable(engine);
    if (engine.file !== null) {
      const onUnusable = (source: string, why: string): void =>
        log.warn("engines.unusable", { source, code: "AGENT_CONFIG_INVALID", reason: why });
      return fileSource(engine.file, process.env, { onChange, onUnusable });
    }
    if (engine.dns !== null) {
      const options = { url: engine.dns, manner: mannerOf(engine), refreshMs: engine.refresh };
      const { source, firstAsked } = dnsSource(options, { resolve, clock, onChange });
      waits.push(firstAsked);
      return source;
    }
    const places = engine.url === null ? [] : [placeOf({ ...engine, url: engine.url })];
    return () => ({ places, faults: [] });
  });
  return {
    engines: together(sources),
    ready: async () => {
      await Promise.all(waits.splice(0).map((wait) => wait()));
    },
  };
};

/** A mistake in the configuration is told at the start, not in each round. */
const requireReadable = ({ api_key_file, bearer_token_file, ca_file }: EngineConfig): void => {
  for (const file of [api_key_file, bearer_token_file, ca_file]) if (file !== null) readSecretFile(file, 1_048_576);
};

const mannerOf = (engine: EngineConfig): Manner => ({
  wish: engine.engine,
  model: engine.model,
  aliases: engine.aliases,
  caFile: engine.ca_file,
  apiKeyFile: engine.api_key_file,
  bearerTokenFile: engine.bearer_token_file,
  gpus: { uuids: engine.gpu_uuids, pods: engine.gpu_pods },
});

/** @returns null: none are configured */
export const gpuTargets = ({ gpus, scrape }: AgentConfig): readonly GpuTarget[] | null => {
  if (gpus === null) return null;
  if (gpus.nvidia_smi !== null) return [{ kind: "nvidia-smi", command: gpus.nvidia_smi }];
  const how = { deadlineMs: scrape.deadline, host: null };
  if (gpus.dcgm_url !== null) {
    return [{ kind: "page", source: "dcgm", url: gpus.dcgm_url, door: createDoor(NO_ACCESS, how) }];
  }
  return gpus.exporters.map(({ url, ca_file, bearer_token_file }) => {
    const access = { caFile: ca_file, apiKeyFile: null, bearerTokenFile: bearer_token_file };
    return { kind: "page", source: addressOf(url) ?? url, url, door: createDoor(access, how) };
  });
};
