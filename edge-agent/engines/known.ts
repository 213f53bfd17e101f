/** Which engine an address is: by its page, by who owns the models it lists, or by what other paths answered. */
import { dynamo } from "./dynamo.ts";
import type { Engine, EnginePayloads } from "./engine.ts";
import { generic } from "./generic.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { lmcache } from "./lmcache.ts";
import { weightsOf } from "./model-cards.ts";
import { nim } from "./nim.ts";
import { ollama } from "./ollama.ts";
import { sglang } from "./sglang.ts";
import { tgi } from "./tgi.ts";
import { triton } from "./triton.ts";
import { trtllm } from "./trtllm.ts";
import { vllm } from "./vllm.ts";

/** Engines before what passes their names on: a worker of Dynamo is read as the engine in it. */
export const ENGINES: readonly Engine[] = [
  ...[vllm, sglang, trtllm, triton, tgi, nim, llamaCpp, ollama, dynamo],
  // A page of vLLM may have its names, too.
  lmcache,
  generic,
];

/**
 * @param wish a name out of ENGINES, or `auto`: by what answers
 * @returns null where nobody known answers like that
 */
export const engineOf = (wish: string, { page, models, further }: EnginePayloads): Engine | null => {
  if (wish !== "auto") return ENGINES.find(({ name }) => name === wish) ?? null;
  const names = [...(page?.samples.keys() ?? [])];
  const owners = weightsOf(models)?.map(({ ownedBy }) => ownedBy) ?? [];
  return (
    ENGINES.find((engine) => engine.recognises(names)) ??
    ENGINES.find(({ owner }) => owner !== null && owners.includes(owner)) ??
    ENGINES.find((engine) => engine.tells(further)) ??
    null
  );
};

/** As `…_bucket` is of a histogram, and `…_total` of a counter. */
const isPartOf = (part: string, whole: string): boolean =>
  part.startsWith(`${whole}_`) && /^_(?:bucket|count|sum|total|created)$/.test(part.slice(whole.length));

/** Whether an alias may stand for it: a name of a list, whole or without its suffix; of engines without a list, any of theirs. */
export const isKnownName = (name: string): boolean =>
  ENGINES.some(({ names, recognises }) => {
    const all = Object.values(names).flat();
    return all.length === 0
      ? recognises([name])
      : all.some((one) => one === name || isPartOf(one, name) || isPartOf(name, one));
  });
