/** `edge-agent read`: what captured payloads mean. */
import { readFileSync } from "node:fs";
import { type Endpoint, learn, newEndpoint } from "../endpoint.ts";
import { tiersOn } from "../engines/cache-tiers.ts";
import type { EnginePayloads } from "../engines/engine.ts";
import { ENGINES, engineOf } from "../engines/known.ts";
import { NO_PAGE_MEMORY } from "../exposition-layout.ts";
import { type Captured, capturedIn } from "./captured.ts";
import { CliFailure, EXIT } from "./failure.ts";
import { gpuView } from "./gpu-view.ts";
import type { CliIo } from "./io.ts";
import { gpuText, readingText } from "./reading-text.ts";
import { type ReadingView, readingView } from "./reading-view.ts";

export type ReadOptions = {
  /** Seconds between two pages of one engine; null: there is one page. */
  readonly after: number | null;
  readonly engine: string;
  readonly json: boolean;
};

/** @throws {CliFailure} where files cannot be read, do not go together or belong to nothing that this version reads */
export const read = (files: readonly string[], options: ReadOptions, io: CliIo): void => {
  requireKnown(options.engine);
  const captured = files.map((file) => capturedIn(file, textOf(file)));
  const gpu = captured.find((one) => one.kind === "dcgm" || one.kind === "nvidia-smi");
  if (gpu === undefined) {
    const view = engineView(captured, options);
    io.print(options.json ? `${JSON.stringify(view, null, 2)}\n` : readingText(view));
  } else {
    if (captured.length > 1) throw wrongUse(`${gpu.file}: GPU memory is read alone, one file at a time`);
    const view = gpuView(gpu);
    io.print(options.json ? `${JSON.stringify(view, null, 2)}\n` : gpuText(view));
  }
};

const requireKnown = (engine: string): void => {
  const names = ["auto", ...ENGINES.map(({ name }) => name)];
  if (!names.includes(engine)) throw wrongUse(`--engine ${engine}: must be one of ${names.join(", ")}`);
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (cause) {
    throw new CliFailure(EXIT.error, `${file}: cannot be read: ${cause instanceof Error ? cause.message : cause}`);
  }
};

const wrongUse = (message: string): CliFailure => new CliFailure(EXIT.usage, message);
const engineView = (captured: readonly Captured[], { after, engine }: ReadOptions): ReadingView => {
  const windowMs = (after ?? 0) * 1_000;
  const known: Endpoint[] = [];
  const rounds = roundsOf(captured, after);
  for (const [at, { file, payloads }] of rounds.entries()) {
    const reading = engineOf(engine, payloads)?.read(payloads);
    if (reading === undefined) throw new CliFailure(EXIT.error, `${file}: no engine's page that is known`);
    const seen = {
      atMs: at * windowMs,
      atEpochMs: 0,
      health: "unknown" as const,
      reading,
      isMeasured: reading.isMeasured,
      modelList: payloads.models,
      processStartedAtMs: null,
      faults: [],
      cacheTiers: payloads.page === null ? null : tiersOn(payloads.page),
      pageMemory: NO_PAGE_MEMORY,
      absentPaths: [],
    };
    known.push(learn(known.at(-1) ?? newEndpoint(file), seen, windowMs));
  }
  const [first = newEndpoint(""), second] = known;
  const view = second === undefined ? readingView(first, null, null) : readingView(second, first, after);
  return view;
};

type Round = { readonly file: string; readonly payloads: EnginePayloads };

/** Pages and answers of the same path are of one round each, in their order; what was captured once holds for both. */
const roundsOf = (captured: readonly Captured[], after: number | null): readonly Round[] => {
  const pages = captured.filter((one) => one.kind === "page");
  const lists = captured.filter((one) => one.kind === "models");
  const byPath = Map.groupBy(
    captured.filter((one) => one.kind === "json"),
    ({ path }) => path,
  );
  if (pages.length === 0 && byPath.size === 0) throw wrongUse("expected a metrics page, found only model lists");
  if (pages.length > 2 || lists.length > 1) throw wrongUse("expected one page or two, and one model list at most");
  for (const [path, answers] of byPath) {
    if (answers.length > 2) throw wrongUse(`expected one answer of ${path} or two, found ${answers.length}`);
  }
  const count = Math.max(pages.length, ...[...byPath.values()].map(({ length }) => length));
  if (count === 2 && pages.length === 1) throw wrongUse("expected a page with each of two answers, found one page");
  if (count === 2 && after === null) throw wrongUse("two pages need --after, the seconds between them");
  if (count === 1 && after !== null) throw wrongUse("--after needs a second page");
  return Array.from({ length: count }, (_, at) => {
    const further = [...byPath].map(
      ([path, answers]) => [path, { kind: "json", json: (answers[at] ?? answers[0])?.json }] as const,
    );
    return {
      file: pages[at]?.file ?? captured[0]?.file ?? "",
      payloads: { page: pages[at]?.page ?? null, models: lists[0]?.models ?? null, further: new Map(further) },
    };
  });
};
