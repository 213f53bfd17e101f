/** YAML nodes made into plain values, with variables put in and the place of each noted. */
import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import { type Path, pathKey } from "./config-path.ts";
import { type Environment, substituteEnvironment } from "./environment.ts";

/** Where a value and its key stand, as offsets into the text. */
export type Spot = {
  readonly key: number;
  readonly value: number;
  /** An unquoted scalar made from variables: it may be meant as a number. */
  readonly isSubstituted: boolean;
  /** The value could not be made, which is a fault already. */
  readonly isUnknown: boolean;
};

export type PlainValue = {
  readonly value: unknown;
  /** By pathKey. */
  readonly spots: ReadonlyMap<string, Spot>;
  /** By pathKey, the text as it stands in the file, of each scalar that variables are put into. */
  readonly references: ReadonlyMap<string, string>;
  readonly faults: readonly { readonly path: Path; readonly offset: number; readonly message: string }[];
};

/** Far more than any configuration needs, far less than an alias bomb makes of a few lines. */
const MOST_VALUES = 100_000;
const DEEPEST = 32;

type Place = { readonly path: Path; readonly key: number; readonly value: number; readonly depth: number };

export const plainValue = (document: Document, env: Environment): PlainValue => {
  const spots = new Map<string, Spot>();
  const references = new Map<string, string>();
  const faults: { path: Path; offset: number; message: string }[] = [];
  let count = 0;

  const note = ({ path, key, value }: Place, how: "found" | "substituted" | "unknown"): void => {
    spots.set(pathKey(path), { key, value, isSubstituted: how === "substituted", isUnknown: how === "unknown" });
  };
  const unknown = (place: Place, message: string): undefined => {
    faults.push({ path: place.path, offset: place.value, message });
    note(place, "unknown");
  };

  const plain = (node: Node | null, path: Path, key: number, depth: number): unknown => {
    const place = { path, key, value: startOf(node, key), depth };
    count += 1;
    const excess = excessOf(depth, count);
    // Of too many values the first is told; what follows is left out.
    if (excess !== null) return count > MOST_VALUES + 1 ? note(place, "unknown") : unknown(place, excess);
    if (isAlias(node)) return alias(node, place);
    if (isScalar(node)) return scalar(node.value, node.type === "PLAIN", place);
    note(place, "found");
    return isSeq<Node>(node) ? list(node.items, place) : isMap<Node, Node | null>(node) ? map(node.items, place) : null;
  };

  const alias = (node: Alias, place: Place): unknown => {
    const target = node.resolve(document);
    if (target === undefined) return unknown(place, `the alias *${node.source} has no anchor before it`);
    return plain(target, place.path, place.key, place.depth + 1);
  };

  const scalar = (found: unknown, isPlain: boolean, place: Place): unknown => {
    if (typeof found !== "string" || !found.includes("${")) {
      note(place, "found");
      return found;
    }
    references.set(pathKey(place.path), found);
    const substituted = substituteEnvironment(found, env);
    if (substituted.kind === "fault") return unknown(place, substituted.message);
    note(place, isPlain ? "substituted" : "found");
    return substituted.text;
  };

  const list = (items: readonly Node[], { path, value, depth }: Place): readonly unknown[] =>
    items.map((item, at) => plain(item, [...path, at], startOf(item, value), depth + 1));

  const map = (items: readonly Pair<Node, Node | null>[], place: Place): Readonly<Record<string, unknown>> => {
    const entries = new Map<string, unknown>();
    for (const { key, value } of items) {
      // A key that is no scalar is a fault of the syntax already.
      if (!isScalar(key)) continue;
      const name = String(key.value);
      const path = [...place.path, name];
      const offset = startOf(key, place.value);
      if (entries.has(name)) faults.push({ path, offset, message: "this key stands here twice" });
      else entries.set(name, plain(value, path, offset, place.depth + 1));
    }
    // Not by assignment: a key named __proto__ is a key like any other.
    return Object.fromEntries(entries);
  };

  return { value: plain(document.contents, [], 0, 0), spots, references, faults };
};

const excessOf = (depth: number, count: number): string | null => {
  if (depth > DEEPEST) return `nested more than ${DEEPEST} levels deep`;
  return count > MOST_VALUES ? `more than ${MOST_VALUES} values, aliases counted` : null;
};

const startOf = (node: Node | null, otherwise: number): number => node?.range?.[0] ?? otherwise;
