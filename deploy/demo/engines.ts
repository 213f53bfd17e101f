/** The demo's engines: which stand in a region, where, and what an agent and a gateway are told of them. One region's speak as three kinds. */
import type { Flavour } from "./engine-simulator/flavour.ts";
import { ENGINE, ENGINE_KEY, MODEL, MODEL_ALIAS, type RegionPorts, SECURE_SITE, type Site } from "./places.ts";

type Engine = { readonly flavour: Flavour; readonly port: number };

/** The region whose engines are of several kinds, behind one gateway and read by one agent. */
export const MIXED_SITE: Site = SECURE_SITE;

const enginesAt = (site: Site, ports: RegionPorts): readonly [Engine, ...Engine[]] => {
  const usual: Engine = { flavour: "vllm", port: ports.engine };
  if (site !== MIXED_SITE) return [usual];
  return [usual, { flavour: "sglang", port: ports.engineSglang }, { flavour: "llama-cpp", port: ports.engineLlamaCpp }];
};

/** Of the region's first engine. */
export const engineUrl = ({ address }: Site, { engine }: RegionPorts): string => `http://${address}:${engine}`;

/** As configurations name them. @param keyFile holds `ENGINE_KEY` */
export const enginesOf = (site: Site, ports: RegionPorts, keyFile: string) =>
  enginesAt(site, ports).map(({ flavour, port }) => ({
    url: `http://${site.address}:${port}`,
    engine: flavour,
    api_key_file: keyFile,
  }));

/** The engine simulator's command line for a site: one process plays all of a region's engines. */
export const engineArgs = (site: Site, ports: RegionPorts): readonly string[] => {
  const [first, ...others] = enginesAt(site, ports);
  return [
    ...["--listen", `${site.address}:${first.port}`],
    ...others.flatMap(({ flavour, port }) => ["--beside", `${flavour}@${port}`]),
    ...["--region", site.region],
    ...["--api-key", ENGINE_KEY],
    ...["--model", MODEL],
    ...["--alias", MODEL_ALIAS],
    ...["--replicas", String(ENGINE.replicas)],
    ...["--prefill-tokens-per-second", String(ENGINE.prefillTokensPerSecond)],
    ...["--kv-tokens", String(ENGINE.kvTokensPerReplica)],
  ];
};
