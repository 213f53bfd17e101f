/** Configuration: YAML checked against a schema, with every fault at once and its line. */
import { closeSync, openSync, readSync } from "node:fs";
import type { z } from "zod";
import { faultsOfSchema, substitutedValue } from "./config-faults.ts";
import { pathText } from "./config-path.ts";
import { type ConfigFault, readConfigTree } from "./config-tree.ts";
import { type ErrorCode, OperationalError } from "./errors.ts";

export type ConfigOptions = {
  /** What faults name: the file's path. */
  readonly source: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly code: Extract<ErrorCode, "GTM_CONFIG_INVALID" | "AGENT_CONFIG_INVALID">;
};

const MOST_CONFIG_BYTES = 1_048_576;
const MOST_SECRET_BYTES = 65_536;

/**
 * Reads YAML, puts environment variables into its scalars, and checks it. Schemas are strict objects: an unknown key is a fault.
 * Text from variables stays text unless the schema wants a number or a boolean in its place.
 *
 * @throws {OperationalError} options.code; its message is one `file:line:column: path: message` a fault, sorted by line
 */
export const parseConfig = <S extends z.ZodType>(schema: S, yamlText: string, options: ConfigOptions): z.output<S> => {
  const bytes = Buffer.byteLength(yamlText);
  if (bytes > MOST_CONFIG_BYTES) throw tooLarge(options, bytes);
  const tree = readConfigTree(yamlText, options.env);
  const value = substitutedValue(schema, tree);
  const parsed = schema.safeParse(value);
  const faults = parsed.success ? tree.faults : [...tree.faults, ...faultsOfSchema(parsed.error, tree)];
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new OperationalError(options.code, textOf(faults, options.source));
};

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE, or as parseConfig */
export const loadConfig = <S extends z.ZodType>(
  schema: S,
  path: string,
  options: Omit<ConfigOptions, "source">,
): z.output<S> => {
  const withSource = { ...options, source: path };
  const text = readAtMost(path, MOST_CONFIG_BYTES);
  if (text === null) throw tooLarge(withSource, null);
  return parseConfig(schema, text, withSource);
};

/**
 * What a `*_file` key points to, without white space around it.
 *
 * @throws {OperationalError} GTM_CONFIG_UNREADABLE, also when the file is empty or far too large for a secret
 */
export const readSecretFile = (path: string, mostBytes: number = MOST_SECRET_BYTES): string => {
  const secret = readAtMost(path, mostBytes)?.trim();
  if (secret === undefined) throw unreadable(path, `expected a secret of at most ${mostBytes} bytes`);
  if (secret === "") throw unreadable(path, "expected a secret, the file is empty");
  return secret;
};

/** Reads in steps and not by the file's size, which a pipe or a device does not tell. null: there is more. */
const readAtMost = (path: string, mostBytes: number): string | null => {
  const buffer = Buffer.alloc(mostBytes + 1);
  try {
    const file = openSync(path, "r");
    try {
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(file, buffer, length, buffer.length - length, null);
      }
      return length > mostBytes ? null : buffer.toString("utf8", 0, length);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
};

const unreadable = (path: string, found: string, cause?: unknown): OperationalError =>
  new OperationalError("GTM_CONFIG_UNREADABLE", `${path}: ${found}`, { cause });

const tooLarge = ({ source, code }: ConfigOptions, bytes: number | null): OperationalError =>
  new OperationalError(
    code,
    `${source}:1:1: expected at most ${MOST_CONFIG_BYTES} bytes, found ${bytes === null ? "more" : bytes}`,
  );

const textOf = (faults: readonly ConfigFault[], source: string): string =>
  faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ path, message, line, column }) => {
      const where = path.length === 0 ? "" : `${pathText(path)}: `;
      return `${source}:${line}:${column}: ${where}${message}`;
    })
    .join("\n");
