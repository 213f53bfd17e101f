/** llama.cpp's server: one model, or a router over several that is never made to load one by being asked. */
import { EMPTY_PAGE, type Fault, type Page } from "../exposition.ts";
import {
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type Further,
  type ModelReading,
  ONE_PAGE,
} from "./engine.ts";
import { fieldOf, listIn, numberIn, textIn } from "./json.ts";
import { LLAMA_CPP_REQUIRED, llamaCppReplica } from "./llama-cpp-replica.ts";
import { propsIn } from "./llama-cpp-slots.ts";
import { brokenContract, modelReading } from "./model-reading.ts";
import { allSamples, createReader, distinctFaults, distinctSources, type Reader } from "./reader.ts";

const PREFIXES = ["llamacpp:", "llamacpp_"] as const;
const PROPS = "/props";

/** In this state a model may be asked without anything being loaded. */
const LOADED = "loaded";

export const llamaCpp: Engine = {
  ...ONE_PAGE,
  name: "llama-cpp",
  recognises: (names) => prefixAmong(names) !== null,
  owner: "llamacpp",
  tellingPaths: [PROPS],
  tells: (further) => {
    const props = further.get(PROPS);
    if (props?.kind === "unknown") return props.code === "loading";
    return props?.kind === "json" && (numberIn(props.json, "total_slots") !== null || isRouterProps(props.json));
  },
  // With --api-key, pages and slots ask for it.
  guardsAll: true,
  // Without knowing what is loaded, no page: a router loads the model that is asked for, a sleeping server wakes.
  firstPaths: [PROPS],
  nextPaths: (payloads) => {
    const { models, further } = payloads;
    const props = further.get(PROPS);
    const routed = routedModels(models);
    if (routed !== null || (props?.kind === "json" && isRouterProps(props.json))) {
      return (routed ?? []).filter(({ status }) => status === LOADED).flatMap(({ id }) => pathsOf(id));
    }
    if (props?.kind === "json") return propsIn(props.json, []).isSleeping === true ? [] : pathsOf(null);
    return props?.kind === "unknown" && /^http-4/.test(props.code) ? pathsOf(null) : [];
  },
  unavailableMeans: "loading",
  read: (payloads) => {
    const routed = routedModels(payloads.models);
    return routed === null ? readOne(payloads) : readRouter(payloads, routed);
  },
};

const prefixAmong = (names: readonly string[]): string | null =>
  PREFIXES.find((prefix) => names.some((name) => name.startsWith(prefix))) ?? null;

const isRouterProps = (props: unknown): boolean => propsIn(props, []).isRouter;

const PAGE = "/metrics";
const SLOTS = "/slots";

/** `autoload=false` is for a model that was unloaded since the list was made. */
const withModel = (path: string, model: string | null): string =>
  model === null ? path : `${path}?model=${encodeURIComponent(model)}&autoload=false`;

const pathsOf = (model: string | null): readonly string[] =>
  [PAGE, SLOTS, ...(model === null ? [] : [PROPS])].map((path) => withModel(path, model));

type Routed = {
  readonly id: string;
  readonly status: string;
  readonly args: readonly unknown[];
  readonly card: unknown;
};

/** @returns null where the list is no router's: its cards say nothing of loading */
const routedModels = (models: unknown): readonly Routed[] | null => {
  const routed = (listIn(models, "data") ?? []).flatMap((card): readonly Routed[] => {
    const id = textIn(card, "id");
    const status = fieldOf(card, "status");
    const value = textIn(status, "value");
    return id === null || value === null ? [] : [{ id, status: value, args: listIn(status, "args") ?? [], card }];
  });
  return routed.length === 0 ? null : routed;
};

const STATES: Readonly<Record<string, ModelReading["state"]>> = {
  loaded: "loaded",
  loading: "loading",
  downloading: "loading",
  sleeping: "asleep",
  unloaded: "on-disk",
};

/** The list may be of an earlier round, when somebody else's answers were had. */
const isAnswered = (further: EnginePayloads["further"], routed: readonly Routed[]): boolean => {
  const loaded = routed.filter(({ status }) => status === LOADED);
  if (loaded.length === 0) return further.get(PROPS)?.kind === "json";
  const kinds = loaded.flatMap(({ id }) => pathsOf(id)).map((path) => further.get(path)?.kind ?? "unknown");
  return kinds.some((kind) => kind !== "unknown");
};

const readRouter = ({ further }: EnginePayloads, routed: readonly Routed[]): EngineReading => {
  const read = routed.map((model): { reading: ModelReading; readers: readonly Reader[]; faults: readonly Fault[] } => {
    const state = STATES[model.status] ?? null;
    const base = { ...modelReading(model.id, null), state, weightBytes: weightOf(model.card) };
    if (state === null) {
      return { reading: { ...base, state: "down" }, readers: [], faults: [{ field: "state", code: "unknown-state" }] };
    }
    if (state !== "loaded") return { reading: base, readers: [], faults: [] };
    const made = placed(base, { engine: model.id, args: model.args }, (path) => further.get(withModel(path, model.id)));
    return { reading: made.reading, readers: [made.reader], faults: made.faults };
  });
  return {
    engine: llamaCpp.name,
    isMeasured: isAnswered(further, routed),
    models: read.map(({ reading }) => reading),
    sources: distinctSources(read.flatMap(({ readers }) => readers.flatMap((reader) => reader.sources()))),
    faults: distinctFaults(
      read.flatMap(({ readers, faults }) => [...faults, ...readers.flatMap((one) => one.faults())]),
    ),
  };
};

const readOne = ({ page, models, further }: EnginePayloads): EngineReading => {
  const props = further.get(PROPS);
  const card = (listIn(models, "data") ?? [])[0];
  const known = propsIn(props?.kind === "json" ? props.json : null, []);
  const model = textIn(card, "id") ?? known.name;
  const at = (path: string): Further | undefined =>
    path === PAGE && page !== null ? { kind: "page", page } : further.get(path);
  const isAsked = page !== null || further.has(SLOTS) || further.has(PAGE);
  const isMeasured = page !== null || further.get(SLOTS)?.kind === "json";
  if (model === null) {
    const faults: readonly Fault[] = isMeasured ? [{ field: "model", code: "model-unknown" }] : [];
    return { engine: llamaCpp.name, isMeasured, models: [], sources: [], faults };
  }
  const state = known.isSleeping === true ? ("asleep" as const) : null;
  const base = {
    ...modelReading(model, null),
    state,
    weightBytes: weightOf(card),
    contextLimitTokens: known.contextLimitTokens,
  };
  if (!isAsked || !isMeasured) {
    return { engine: llamaCpp.name, isMeasured: false, models: [base], sources: [], faults: [] };
  }
  const made = placed(base, { engine: "0", args: [] }, at);
  return {
    engine: llamaCpp.name,
    isMeasured,
    models: [made.reading],
    sources: distinctSources(made.reader.sources()),
    faults: distinctFaults([...made.faults, ...made.reader.faults()]),
  };
};

const placed = (
  base: ModelReading,
  replica: { readonly engine: string; readonly args: readonly unknown[] },
  at: (path: string) => Further | undefined,
): { readonly reading: ModelReading; readonly reader: Reader; readonly faults: readonly Fault[] } => {
  const answer = at(PAGE);
  const page: Page | null = answer?.kind === "page" ? answer.page : null;
  const prefix = prefixAmong([...(page?.samples.keys() ?? [])]) ?? PREFIXES[0];
  const reader = createReader({ page: page ?? EMPTY_PAGE, prefix, own: allSamples });
  const json = at(PROPS);
  const props = propsIn(json?.kind === "json" ? json.json : null, replica.args);
  const pageCode = answer?.kind === "unknown" ? answer.code : "missing";
  const reading = llamaCppReplica(replica.engine, { page, pageCode, slots: at(SLOTS), props }, reader);
  if (props.capacityTokens === null) reader.fault("kvCapacityTokens", "capacity-unknown");
  else reader.source("kvCapacityTokens", "/props total_slots × n_ctx");
  if (props.contextLimitTokens !== null) reader.source("contextLimitTokens", "/props n_ctx");
  const faults = page === null ? [] : [...page.faults, ...brokenContract(page, prefix, LLAMA_CPP_REQUIRED)];
  const contextLimitTokens = base.contextLimitTokens ?? props.contextLimitTokens;
  return {
    reading: { ...base, contextLimitTokens, kvCapacityTokens: props.capacityTokens, replicas: [reading] },
    reader,
    faults,
  };
};

const weightOf = (card: unknown): number | null => {
  const bytes = numberIn(fieldOf(card, "meta"), "size");
  return Number.isSafeInteger(bytes) ? bytes : null;
};
