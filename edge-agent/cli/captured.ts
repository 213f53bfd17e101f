/** Captured payloads told apart by what is in them. */

import { type Page, parseExposition } from "../exposition.ts";
import { isDcgm } from "../gpu/dcgm.ts";
import { isNvidiaSmi } from "../gpu/nvidia-smi.ts";
import { pathOf } from "./captured-json.ts";
import { CliFailure, EXIT } from "./failure.ts";

export type Captured =
  | { readonly kind: "page"; readonly file: string; readonly page: Page }
  | { readonly kind: "dcgm"; readonly file: string; readonly page: Page }
  | { readonly kind: "nvidia-smi"; readonly file: string; readonly text: string }
  | { readonly kind: "models"; readonly file: string; readonly models: unknown }
  /** What another path of an engine answered. */
  | { readonly kind: "json"; readonly file: string; readonly path: string; readonly json: unknown };

/** @throws {CliFailure} where the file holds nothing that this version reads */
export const capturedIn = (file: string, text: string): Captured => {
  if (/^\s*[[{]/.test(text)) return jsonIn(file, text);
  if (isNvidiaSmi(text) || text.startsWith("No devices were found")) return { kind: "nvidia-smi", file, text };
  const page = parseExposition(text);
  if (page.faults.some(({ code }) => code === "half-sent")) {
    throw new CliFailure(EXIT.error, `${file}: half of a page: it ends inside a line. Nothing in it can be trusted.`);
  }
  if (page.samples.size === 0) throw new CliFailure(EXIT.error, `${file}: holds no samples`);
  return { kind: isDcgm(page) ? "dcgm" : "page", file, page };
};

const jsonIn = (file: string, text: string): Captured => {
  const wanted = `${file}: expected a model list as /v1/models answers it, or another answer of an engine`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CliFailure(EXIT.error, `${wanted}, found broken JSON: ${String(cause)}`);
  }
  const path = pathOf(json);
  if (path === null) throw new CliFailure(EXIT.error, `${wanted}, found other JSON`);
  return path === "/v1/models" ? { kind: "models", file, models: json } : { kind: "json", file, path, json };
};
