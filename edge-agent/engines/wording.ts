/** How an operator says that an engine's words are to be taken: names that were changed on the way, and whose model it is. */
import type { Page } from "../exposition.ts";
import type { EngineReading } from "./engine.ts";

export type Wording = {
  /** What clients call the model, where the engine does not say it or says another name; null: what the engine says holds. */
  readonly model: string | null;
  /** Names on the page, by which known names they stand for: a whole name, or that of a histogram or counter without its suffix. */
  readonly aliases: Readonly<Record<string, string>>;
};

export const PLAIN: Wording = { model: null, aliases: {} };

/** A page with its changed names under the known ones, too. */
export type Reworded = {
  readonly page: Page;
  /** The name on the page by the known name that it stands for now. */
  readonly originals: ReadonlyMap<string, string>;
};

const SUFFIXES = ["_bucket", "_count", "_sum", "_total", "_created"];

/** A known name that is there itself speaks for itself: an alias may stay where the engine has got its name back. */
export const reworded = (page: Page, aliases: Wording["aliases"]): Reworded => {
  if (Object.keys(aliases).length === 0) return { page, originals: new Map() };
  const samples = new Map(page.samples);
  const contradicted = new Set(page.contradicted);
  const originals = new Map<string, string>();
  for (const [name, list] of page.samples) {
    const known = knownName(name, aliases);
    if (known === null || samples.has(known)) continue;
    samples.set(known, list);
    originals.set(known, name);
    if (page.contradicted.has(name)) contradicted.add(known);
  }
  return originals.size === 0 ? { page, originals } : { page: { ...page, samples, contradicted }, originals };
};

const knownName = (name: string, aliases: Wording["aliases"]): string | null => {
  if (Object.hasOwn(aliases, name)) return aliases[name] ?? null;
  const suffix = SUFFIXES.find((one) => name.endsWith(one));
  const base = suffix === undefined ? "" : name.slice(0, -suffix.length);
  return Object.hasOwn(aliases, base) ? `${aliases[base]}${suffix}` : null;
};

/** A reading whose sources are the names on the page, and whose only model has the name that clients use. */
export const inTheirWords = (reading: EngineReading, { model }: Wording, { originals }: Reworded): EngineReading => {
  const sources = reading.sources.map(({ field, source }) => {
    const original = originals.get(source);
    return { field, source: original === undefined ? source : `${original} as ${source}` };
  });
  if (model === null || reading.models.length === 0) return { ...reading, sources };
  if (reading.models.length > 1) {
    return { ...reading, sources, faults: [...reading.faults, { field: "model", code: "several-models" }] };
  }
  const models = reading.models.map((own) => ({
    ...own,
    model,
    aliases: [...own.aliases, own.model].filter((name) => name !== "" && name !== model),
  }));
  return { ...reading, sources, models, faults: reading.faults.filter(({ field }) => field !== "model") };
};
