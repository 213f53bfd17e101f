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

/** What a text says, or everything that is wrong with it, by line. */
export type ReadConfig<S extends z.ZodType> =
  | {
      readonly kind: "sound";
      readonly value: z.output<S>;
      /** By pathKey: what the text says where variables were put in. */
      readonly references: ReadonlyMap<string, string>;
    }
  | { readonly kind: "faulty"; readonly faults: readonly ConfigFault[] };

/** As parseConfig, for who wants to tell of each fault by itself. */
export const readConfig = <S extends z.ZodType>(
  schema: S,
  yamlText: string,
  env: ConfigOptions["env"],
): ReadConfig<S> => {
  const bytes = Buffer.byteLength(yamlText);
  if (bytes > MOST_CONFIG_BYTES) return { kind: "faulty", faults: [tooLarge(bytes)] };
  const tree = readConfigTree(yamlText, env);
  const value = substitutedValue(schema, tree);
  const parsed = schema.safeParse(value);
  if (parsed.success && tree.faults.length === 0) {
    return { kind: "sound", value: parsed.data, references: tree.references };
  }
  const faults = parsed.success ? tree.faults : [...tree.faults, ...faultsOfSchema(parsed.error, tree)];
  return { kind: "faulty", faults: faults.toSorted((a, b) => a.line - b.line || a.column - b.column) };
};

/**
 * Reads YAML, puts environment variables into its scalars, and checks it. Schemas are strict objects: an unknown key is a fault.
 * Text from variables stays text unless the schema wants a number or a boolean in its place.
 *
 * @throws {OperationalError} options.code; its message is one `file:line:column: path: message` a fault, sorted by line
 */
export const parseConfig = <S extends z.ZodType>(schema: S, yamlText: string, options: ConfigOptions): z.output<S> => {
  const read = readConfig(schema, yamlText, options.env);
  if (read.kind === "sound") return read.value;
  throw new OperationalError(options.code, textOf(read.faults, options.source));
};

/** The text of a configuration, at most a megabyte. @throws {OperationalError} GTM_CONFIG_UNREADABLE, or options.code where it is longer */
export const readConfigText = (path: string, code: ConfigOptions["code"]): string => {
  const text = readAtMost(path, MOST_CONFIG_BYTES);
  if (text === null) throw new OperationalError(code, textOf([tooLarge(null)], path));
  return text;
};

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE, or as parseConfig */
export const loadConfig = <S extends z.ZodType>(
  schema: S,
  path: string,
  options: Omit<ConfigOptions, "source">,
): z.output<S> => parseConfig(schema, readConfigText(path, options.code), { ...options, source: path });

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

const tooLarge = (bytes: number | null): ConfigFault => ({
  path: [],
  ...{ line: 1, column: 1 },
  message: `expected at most ${MOST_CONFIG_BYTES} bytes, found ${bytes === null ? "more" : bytes}`,
});

const textOf = (faults: readonly ConfigFault[], source: string): string =>
  faults
    .map(({ path, message, line, column }) => {
      const where = path.length === 0 ? "" : `${pathText(path)}: `;
      return `${source}:${line}:${column}: ${where}${message}`;
    })
    .join("\n");
