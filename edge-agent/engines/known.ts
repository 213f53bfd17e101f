/** Which engine a page comes from: the ones that are read, and the ones that are known by name and refused. */
import type { Engine, EnginePayloads } from "./engine.ts";
import { weightsOf } from "./model-cards.ts";
import { vllm } from "./vllm.ts";

export const ENGINES: readonly Engine[] = [vllm];

/** Prefixes of pages that this version cannot read, so that it can say whose they are. */
const UNREAD: readonly (readonly [engine: string, prefix: RegExp])[] = [
  ["sglang", /^sglang[:_]/],
  ["tgi", /^tgi_/],
  ["trtllm", /^(?:trtllm_|nv_trt_llm_)/],
  ["llama-cpp", /^llamacpp:/],
  ["dynamo", /^dynamo_/],
  ["lmcache", /^lmcache[:_]/],
];

/** Names that a configuration may ask for and this version refuses. */
export const UNREAD_ENGINES: readonly string[] = [...UNREAD.map(([engine]) => engine), "ollama", "triton", "nim"];

export type Choice =
  | { readonly kind: "engine"; readonly engine: Engine }
  /** Named, but not read by this version. */
  | { readonly kind: "unsupported"; readonly name: string }
  | { readonly kind: "unrecognised" };

/**
 * @param wish a name out of ENGINES, or `auto`: by the names on the page, and where they belong to nobody, by who owns the
 * listed models
 */
export const engineOf = (wish: string, { page, models }: EnginePayloads): Choice => {
  const names = [...(page?.samples.keys() ?? [])];
  const byPage = ENGINES.find((engine) => (wish === "auto" ? engine.recognises(names) : engine.name === wish));
  if (byPage !== undefined) return { kind: "engine", engine: byPage };
  const [unread] = UNREAD.find(([, prefix]) => names.some((name) => prefix.test(name))) ?? [];
  if (unread !== undefined) return { kind: "unsupported", name: unread };
  const owners = weightsOf(models)?.map(({ ownedBy }) => ownedBy) ?? [];
  const byOwner = wish === "auto" ? ENGINES.find(({ owner }) => owner !== null && owners.includes(owner)) : undefined;
  return byOwner === undefined ? { kind: "unrecognised" } : { kind: "engine", engine: byOwner };
};
