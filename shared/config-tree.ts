/** YAML read into plain values that remember where they stand, so that every later fault can name its line. */
import { LineCounter, parseDocument, type YAMLError } from "yaml";
import { type Path, pathKey } from "./config-path.ts";
import { plainValue } from "./config-values.ts";
import type { Environment } from "./environment.ts";

/** Both from 1. */
type Position = { readonly line: number; readonly column: number };

export type ConfigFault = Position & { readonly path: Path; readonly message: string };

export type ConfigTree = {
  readonly value: unknown;
  /** Syntax, duplicate keys, tags, missing variables. */
  readonly faults: readonly ConfigFault[];
  /** The text could not be read whole: what seems absent may be there. */
  readonly isBroken: boolean;
  /** By pathKey: what the file says where variables were put in. */
  readonly references: ReadonlyMap<string, string>;
  /** Where a value stands; of an absent one, where the key of the nearest that would hold it does. */
  readonly positionOf: (path: Path) => Position;
  /** Where the key of a value stands. */
  readonly keyPositionOf: (path: Path) => Position;
  /** Whether the value is an unquoted scalar made from variables. */
  readonly isSubstituted: (path: Path) => boolean;
  /** Whether the value could not be made, which is a fault already. */
  readonly isUnknown: (path: Path) => boolean;
};

/** A parser that has lost its way finds a fault at every turn. */
const MOST_SYNTAX_FAULTS = 20;

export const readConfigTree = (text: string, env: Environment): ConfigTree => {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
    // Checked with the values: the parser's own check compares every key with every other.
    uniqueKeys: false,
  });
  const { value, spots, references, faults } = plainValue(document, env);

  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const keyPositionOf = (path: Path): Position => {
    for (let length = path.length; length > 0; length--) {
      const spot = spots.get(pathKey(path.slice(0, length)));
      if (spot !== undefined) return positionAt(spot.key);
    }
    return positionAt(0);
  };
  const syntaxFaults = toldOf([...document.errors, ...document.warnings]).map((error) => ({
    path: [],
    message: messageOf(error, text),
    ...positionAt(error.pos[0]),
  }));

  return {
    value,
    faults: [...syntaxFaults, ...faults.map(({ offset, ...fault }) => ({ ...fault, ...positionAt(offset) }))],
    references,
    isBroken: document.errors.length > 0,
    positionOf: (path) => {
      const spot = spots.get(pathKey(path));
      return spot === undefined ? keyPositionOf(path) : positionAt(spot.value);
    },
    keyPositionOf,
    isSubstituted: (path) => spots.get(pathKey(path))?.isSubstituted ?? false,
    isUnknown: (path) => spots.get(pathKey(path))?.isUnknown ?? false,
  };
};

/** Once the parser has run out of stack, whatever else it says is about itself. */
const toldOf = (errors: readonly YAMLError[]): readonly YAMLError[] => {
  const exhausted = errors.findIndex(({ code }) => code === "RESOURCE_EXHAUSTION");
  return errors.slice(0, Math.min(MOST_SYNTAX_FAULTS, exhausted === -1 ? errors.length : exhausted + 1));
};

const messageOf = ({ code, message, pos }: YAMLError, text: string): string => {
  if (code === "RESOURCE_EXHAUSTION") return "nested far too deeply";
  const start = text.lastIndexOf("\n", pos[0] - 1) + 1;
  const end = text.indexOf("\n", pos[0]);
  const line = text.slice(start, end === -1 ? undefined : end);
  // The parser stumbles over `[${NAME}]` in a way that does not tell what to do.
  return /[[{,].*\$\{/.test(line) ? `${message} (inside [ ] and { } write "\${NAME}" with quotes)` : message;
};
