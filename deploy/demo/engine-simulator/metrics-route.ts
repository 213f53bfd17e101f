/** The metrics page as it is served, disguises and breakdowns included. */
import type { ServerResponse } from "node:http";
import type { EngineLife } from "./engine-life.ts";
import { CONTENT_TYPE, expose, type Family } from "./exposition.ts";
import type { Modes } from "./modes.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { ofOtherProcess, withNaN, withOldNames } from "./page-disguise.ts";
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
  const send = (): void => sendPage(response, metricsText(page), page.modes.half_page);
  if (page.modes.slow) {
    const timer = setTimeout(send, SLOW_PAGE_MS);
    response.on("close", () => clearTimeout(timer));
  } else {
    send();
  }
};

export const metricsText = ({ options, life, modes, isOther }: Page): string => {
  const startedAtSeconds = life.startedAtMs / 1_000 - (isOther ? OTHER_IS_OLDER_SECONDS : 0);
  let families: readonly Family[] = vllmFamilies({
    model: options.model,
    options: options.engine,
    contextLimitTokens: options.contextLimitTokens,
    engines: life.engines(),
    isAsleep: modes.sleep,
    startedAtSeconds,
    residentBytes: process.memoryUsage.rss(),
  });
  if (isOther) families = ofOtherProcess(families);
  if (modes.old_names) families = withOldNames(families);
  if (modes.nan) families = withNaN(families);
  return expose(families, startedAtSeconds);
};

const sendPage = (response: ServerResponse, text: string, isHalf: boolean): void => {
  response.writeHead(200, { "content-type": CONTENT_TYPE, "content-length": Buffer.byteLength(text) });
  if (!isHalf) response.end(text);
  else response.write(text.slice(0, text.length / 2), () => response.destroy());
};
