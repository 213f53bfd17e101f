/** Which keys a file writes with a unit and the program reads as a number. */
import { z } from "zod";
import { GtmSettings } from "./schema.ts";

type Node = { readonly [key: string]: unknown };
export type Unit = "duration" | "size";

/** By the key as rows of the settings' table have it; a key that is absent is written as it is. */
export const writtenAs = (): ReadonlyMap<string, Unit> => {
  const found = new Map<string, Unit>();
  visit(z.toJSONSchema(GtmSettings, { io: "input", unrepresentable: "any" }), "", ({ pattern }, at) => {
    const unit = typeof pattern === "string" ? unitOf(pattern) : null;
    if (unit !== null) found.set(at, unit);
  });
  return found;
};

/** As shared/units.ts writes its patterns. */
const unitOf = (pattern: string): Unit | null => {
  if (pattern.endsWith("(?:ms|s|m|h|d)$")) return "duration";
  return pattern.endsWith("|TiB)$") ? "size" : null;
};

const visit = (node: unknown, at: string, see: (node: Node, at: string) => void): void => {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const one of node) visit(one, at, see);
    return;
  }
  const { properties, items, anyOf, oneOf } = node as Node;
  see(node as Node, at);
  for (const [key, inner] of Object.entries(properties ?? {})) visit(inner, at === "" ? key : `${at}.${key}`, see);
  visit(items, `${at}[]`, see);
  visit([anyOf ?? [], oneOf ?? []].flat(), at, see);
};
