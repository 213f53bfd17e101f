/** Captured payloads told apart by what is in them. */

import { type Page, parseExposition } from "../exposition.ts";
import { isDcgm } from "../gpu/dcgm.ts";
import { isNvidiaSmi } from "../gpu/nvidia-smi.ts";
import { CliFailure, EXIT } from "./failure.ts";

export type Captured =
  | { readonly kind: "page"; readonly file: string; readonly page: Page }
  | { readonly kind: "dcgm"; readonly file: string; readonly page: Page }
  | { readonly kind: "nvidia-smi"; readonly file: string; readonly text: string }
  | { readonly kind: "models"; readonly file: string; readonly models: unknown };

/** @throws {CliFailure} where the file holds nothing that this version reads */
export const capturedIn = (file: string, text: string): Captured => {
  if (/^\s*[[{]/.test(text)) return { kind: "models", file, models: modelListIn(file, text) };
  if (isNvidiaSmi(text) || text.startsWith("No devices were found")) return { kind: "nvidia-smi", file, text };
  const page = parseExposition(text);
  if (page.faults.some(({ code }) => code === "half-sent")) {
    throw new CliFailure(EXIT.error, `${file}: half of a page: it ends inside a line. Nothing in it can be trusted.`);
  }
  if (page.samples.size === 0) throw new CliFailure(EXIT.error, `${file}: holds no samples`);
  return { kind: isDcgm(page) ? "dcgm" : "page", file, page };
};

const modelListIn = (file: string, text: string): unknown => {
  const wanted = `${file}: expected a model list as /v1/models answers it`;
  try {
    const models: unknown = JSON.parse(text);
    if (typeof models === "object" && models !== null && "data" in models && Array.isArray(models.data)) return models;
  } catch (cause) {
    throw new CliFailure(EXIT.error, `${wanted}, found broken JSON: ${String(cause)}`);
  }
  throw new CliFailure(EXIT.error, `${wanted}, found other JSON`);
};
