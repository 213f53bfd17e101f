/** What a schema finds wrong in a configuration, said of the line it stands on. */
import type { z } from "zod";
import type { Path } from "./config-path.ts";
import type { ConfigFault, ConfigTree } from "./config-tree.ts";

type Issue = z.core.$ZodIssue;

/**
 * The tree's value, with text from variables read as a number or a boolean wherever the schema wants one: `port: ${PORT}`
 * is a number, while an instance named "1234567890" stays text.
 */
export const substitutedValue = (schema: z.ZodType, tree: ConfigTree): unknown => {
  const first = schema.safeParse(tree.value);
  if (first.success) return tree.value;
  let value = tree.value;
  for (const issue of leavesOf(first.error.issues)) {
    if (issue.code !== "invalid_type" || !tree.isSubstituted(issue.path)) continue;
    const read = readAs(issue.expected, valueAt(value, issue.path));
    if (read !== null) value = withValueAt(value, issue.path, read);
  }
  return value;
};

/** @param error of the tree's value */
export const faultsOfSchema = (error: z.ZodError, tree: ConfigTree): readonly ConfigFault[] => {
  const spoiltLines = new Set(tree.isBroken ? tree.faults.map(({ line }) => line) : []);
  return leavesOf(error.issues)
    .flatMap((issue) => faultsOf(issue, tree))
    .filter(({ line }) => !spoiltLines.has(line));
};

/** Issues of unions, records and keys lie inside others; of a union's branches, the one that got furthest speaks. */
const leavesOf = (issues: readonly Issue[], prefix: Path = []): readonly Issue[] =>
  issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "invalid_union" && issue.errors.length > 0) return leavesOf(furthest(issue.errors), path);
    if (issue.code === "invalid_element") return leavesOf(issue.issues, path);
    return [{ ...issue, path } as Issue];
  });

const furthest = (branches: readonly (readonly Issue[])[]): readonly Issue[] => {
  const depth = (branch: readonly Issue[]): number => Math.max(0, ...branch.map(({ path }) => path.length));
  return branches.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
};

const faultsOf = (issue: Issue, tree: ConfigTree): readonly ConfigFault[] => {
  const { path } = issue;
  if (tree.isUnknown(path)) return [];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const at = [...path, key];
      return { path: at, message: "unknown key", ...tree.keyPositionOf(at) };
    });
  }
  if (issue.code === "invalid_key") {
    const message = `not a key here: ${issue.issues.map((inner) => inner.message).join("; ")}`;
    return [{ path, message, ...tree.keyPositionOf(path) }];
  }
  const message = issue.message.replace(/^Invalid (?:input|option): /, "");
  const isMissing = valueAt(tree.value, path) === undefined;
  // In broken text the value may stand where the parser did not find it.
  if (isMissing && tree.isBroken) return [];
  return [{ path, message: isMissing ? missing(message) : message, ...tree.positionOf(path) }];
};

const missing = (message: string): string => `missing, ${message.replace(/, received undefined$/, "")}`;

const readAs = (expected: string, found: unknown): number | boolean | null => {
  if (typeof found !== "string") return null;
  if (expected === "boolean") return found === "true" ? true : found === "false" ? false : null;
  const isNumber = (expected === "number" || expected === "int") && /^-?[0-9]+(?:\.[0-9]+)?$/.test(found);
  return isNumber ? Number(found) : null;
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inside, step) =>
      typeof inside === "object" && inside !== null && Object.hasOwn(inside, step)
        ? (inside as Record<PropertyKey, unknown>)[step]
        : undefined,
    value,
  );

const withValueAt = (value: unknown, path: Path, replacement: unknown): unknown => {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? withValueAt(item, rest, replacement) : item));
  const inside = value as Record<PropertyKey, unknown>;
  return { ...inside, [step]: withValueAt(inside[step], rest, replacement) };
};
