/** A page whose series carry their model's name, read model by model: one replica each. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf } from "../exposition-line.ts";
import type { EngineReading, ModelReading } from "./engine.ts";
import { brokenContract, labelValuesOn, listedModels, modelReading, weightsFor } from "./model-reading.ts";
import { createReader, distinctFaults, distinctSources, type Reader } from "./reader.ts";

export type LabelledPage = {
  readonly engine: string;
  readonly page: Page;
  readonly models: unknown;
  /** Which label names the model; series without it are the only model's. */
  readonly label: string;
  /** What has to be there, by all names of it. */
  readonly required: readonly (readonly string[])[];
  /** Series by which models are found; the required ones unless more are known to be labelled. */
  readonly labelled: readonly string[];
  readonly measure: (reader: Reader) => Measured;
};

export type Measured = Pick<ModelReading, "kvCapacityTokens" | "replicas"> & {
  readonly contextLimitTokens: number | null;
};

/** A page that names no model is the first listed one's; where nothing is listed, that is a fault. */
export const readLabelledPage = (asked: LabelledPage): EngineReading => {
  const { engine, page, models, label, required, labelled, measure } = asked;
  const faults: Fault[] = [...page.faults, ...brokenContract(page, "", required)];
  const named = labelValuesOn(page, labelled, label);
  const listed = listedModels(models).map(({ model }) => model);
  const names = named.length > 0 ? named : listed.slice(0, 1);
  if (names.length === 0) faults.push({ field: "model", code: "model-unknown" });
  const readers: Reader[] = [];
  const read = (names.length > 0 ? names : [""]).map((model): ModelReading => {
    const isAlone = names.length <= 1;
    const reader = createReader({
      page,
      prefix: "",
      own: (samples) => samples.filter((sample) => (labelOf(sample, label) ?? (isAlone ? model : null)) === model),
    });
    readers.push(reader);
    const base = modelReading(model, weightsFor(model, models, faults));
    const measured = measure(reader);
    return { ...base, ...measured, contextLimitTokens: base.contextLimitTokens ?? measured.contextLimitTokens };
  });
  return {
    engine,
    isMeasured: true,
    models: read,
    sources: distinctSources(readers.flatMap((reader) => reader.sources())),
    faults: distinctFaults([...faults, ...readers.flatMap((reader) => reader.faults())]),
  };
};

/** What the engine exports under no name: said once, and not mistaken for something that went missing. */
export const notExported = (reader: Reader, ...fields: readonly string[]): void => {
  for (const field of fields) reader.fault(field, "not-exported");
};
