/** The part of the scripts for bash and zsh that is the same: four functions that say what may stand where. */
import type { CommandNode, Value } from "./completion-tree.ts";

/** In single quotes, as POSIX shells read them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** "words a b", "live regions", "file" or "any": what the scripts tell apart by its first word. */
const valueLine = (value: Value): string => {
  switch (value.kind) {
    case "words":
      return ["words", ...value.words].join(" ");
    case "live":
      return `live ${value.what}`;
    case "file":
    case "any":
      return value.kind;
  }
};

const table = (name: string, rows: readonly (readonly [patterns: readonly string[], line: string])[]): string =>
  [
    `${name}() {`,
    '  case "$1" in',
    ...rows.map(([patterns, line]) => `    ${patterns.map(quoted).join("|")}) printf '%s' ${quoted(line)} ;;`),
    "  esac",
    "}",
  ].join("\n");

/** Each takes the path of a command, for a value with what it is of behind a colon; and prints words between spaces. */
export const wordFunctions = (tree: readonly CommandNode[]): string =>
  [
    table(
      "_gtm_children",
      tree
        .filter(({ children }) => children.length > 0)
        .map((one) => [[one.path], one.children.map(({ name }) => name).join(" ")]),
    ),
    table(
      "_gtm_options",
      tree.map(({ path, options }) => [[path], options.flatMap(({ flags }) => flags).join(" ")]),
    ),
    table(
      "_gtm_value",
      tree.flatMap(({ path, options }) =>
        options.flatMap(({ flags, value }) =>
          value === null ? [] : [[flags.map((flag) => `${path}:${flag}`), valueLine(value)] as const],
        ),
      ),
    ),
    table(
      "_gtm_argument",
      tree.flatMap(({ path, args }) => args.map((value, at) => [[`${path}:${at}`], valueLine(value)] as const)),
    ),
  ].join("\n");
