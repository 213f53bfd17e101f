/** The paths by which an engine is observed: each kind of engine has its own. */
import type { EngineLife } from "./engine-life.ts";
import type { Flavour } from "./flavour.ts";
import { llamaCppProps, llamaCppSlots } from "./llama-cpp-page.ts";
import type { Modes } from "./modes.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { sendJson } from "./send-json.ts";
import type { Exchange } from "./serve-completion.ts";
import { sglangLoads, sglangServerInfo } from "./sglang-page.ts";

/** A version that has every name on the metrics page. */
const VLLM_VERSION = "0.26.0";

export type Observed = {
  readonly options: EngineSimulatorOptions;
  readonly modes: Modes;
  readonly life: () => EngineLife;
};
type Handler = (exchange: Exchange) => void | Promise<void>;
type Routes = readonly (readonly [string, Readonly<Partial<Record<string, Handler>>>])[];

export const flavourRoutes = (flavour: Flavour, observed: Observed): Routes => {
  switch (flavour) {
    case "vllm":
      return vllmRoutes();
    case "sglang":
      return sglangRoutes(observed);
    case "llama-cpp":
      return llamaCppRoutes(observed);
  }
};

const ok: Handler = ({ response }) => void response.writeHead(200).end();

const json =
  (body: () => unknown): Handler =>
  ({ response }) =>
    sendJson(response, 200, body() as object);

const vllmRoutes = (): Routes => [
  ["/health", { GET: ok }],
  ["/ping", { GET: ok, POST: ok }],
  ["/version", { GET: json(() => ({ version: VLLM_VERSION })) }],
];

const sglangRoutes = ({ options, life }: Observed): Routes => {
  const facts = () => ({ ...options, options: options.engine, engines: life().engines() });
  const uncached = () => life().room.region.replicas.map((replica) => replica.uncachedTokensWaiting());
  const info = json(() => sglangServerInfo(facts()));
  return [
    ["/health", { GET: ok }],
    ["/ping", { GET: ok, POST: ok }],
    ["/server_info", { GET: info }],
    ["/get_server_info", { GET: info }],
    ["/model_info", { GET: json(() => ({ model_path: options.model, is_generation: true })) }],
    ["/v1/loads", { GET: json(() => sglangLoads(facts(), uncached())) }],
  ];
};

const llamaCppRoutes = ({ options, modes, life }: Observed): Routes => {
  const facts = () => {
    const [engine] = life().engines();
    if (engine === undefined) throw new Error("a simulated llama.cpp has one replica");
    return { model: options.model, options: options.engine, engine, isAsleep: modes.sleep };
  };
  const slots = () => {
    const decoding: { promptTokens: number; outputTokens: number }[] = [];
    life().room.region.replicas[0]?.eachDecoding(({ promptTokens }, outputTokens) => {
      decoding.push({ promptTokens, outputTokens });
    });
    return llamaCppSlots(facts(), decoding);
  };
  return [
    ["/health", { GET: json(() => ({ status: "ok" })) }],
    ["/props", { GET: json(() => llamaCppProps(facts())) }],
    ["/slots", { GET: json(slots) }],
  ];
};
