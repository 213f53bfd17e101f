/** The metrics page as it is served, disguises and breakdowns included. */
import type { ServerResponse } from "node:http";
import type { EngineLife } from "./engine-life.ts";
import { CONTENT_TYPE, expose, type Family } from "./exposition.ts";
import type { Flavour } from "./flavour.ts";
import { llamaCppFamilies } from "./llama-cpp-page.ts";
import type { Modes } from "./modes.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { ofOtherProcess, withNaN, withOldNames } from "./page-disguise.ts";
import { sendJson } from "./send-json.ts";
import { sglangFamilies } from "./sglang-page.ts";
import { vllmFamilies } from "./vllm-page.ts";

/** Longer than any scraper waits. */
const SLOW_PAGE_MS = 5_000;
/** How much longer the second of two processes has run. */
const OTHER_IS_OLDER_SECONDS = 3_600;

export type Page = {
  readonly options: EngineSimulatorOptions;
  readonly life: EngineLife;
  readonly modes: Modes;
  /** Whether the second process of `multi_replica` answers. */
  readonly isOther: boolean;
};

export const sendMetrics = (response: ServerResponse, page: Page): void => {
  const { body, status } = refusalOf(page.options.flavour);
  const send = (): void => sendPage(response, metricsText(page), page.modes.half_page);
  if (page.modes.no_metrics) {
    sendJson(response, status, body);
  } else if (page.modes.slow) {
    const timer = setTimeout(send, SLOW_PAGE_MS);
    response.on("close", () => clearTimeout(timer));
  } else {
    send();
  }
};

export const metricsText = ({ options, life, modes, isOther }: Page): string => {
  const startedAtSeconds = life.startedAtMs / 1_000 - (isOther ? OTHER_IS_OLDER_SECONDS : 0);
  let families = familiesOf({ options, life, modes, startedAtSeconds });
  if (isOther) families = ofOtherProcess(families);
  if (modes.old_names) families = withOldNames(families);
  if (modes.nan) families = withNaN(families);
  // Servers of several processes, as SGLang always is, and llama.cpp do not tell when counting began.
  return expose(families, options.flavour === "vllm" ? startedAtSeconds : null);
};

const familiesOf = ({
  options,
  life,
  modes,
  startedAtSeconds,
}: Omit<Page, "isOther"> & { readonly startedAtSeconds: number }): readonly Family[] => {
  const { model, contextLimitTokens } = options;
  const engines = life.engines();
  const facts = { model, options: options.engine, contextLimitTokens, engines };
  switch (options.flavour) {
    case "vllm": {
      const isAsleep = modes.sleep;
      return vllmFamilies({ ...facts, isAsleep, startedAtSeconds, residentBytes: process.memoryUsage.rss() });
    }
    case "sglang":
      return sglangFamilies(facts);
    case "llama-cpp":
      return engines.flatMap((engine) => llamaCppFamilies({ ...facts, engine, isAsleep: modes.sleep }));
  }
};

/** Where there are no metrics, as each says it. */
const refusalOf = (flavour: Flavour): { readonly status: number; readonly body: object } => {
  if (flavour !== "llama-cpp") return { status: 404, body: { detail: "Not Found" } };
  const message = "This server does not support metrics endpoint. Start it with `--metrics`";
  return { status: 501, body: { error: { code: 501, message, type: "not_supported_error" } } };
};

const sendPage = (response: ServerResponse, text: string, isHalf: boolean): void => {
  response.writeHead(200, { "content-type": CONTENT_TYPE, "content-length": Buffer.byteLength(text) });
  if (!isHalf) response.end(text);
  else response.write(text.slice(0, text.length / 2), () => response.destroy());
};
