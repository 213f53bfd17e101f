/** The completion script for fish 3 and newer. */
import type { CommandNode, OptionNode, Value } from "./completion-tree.ts";

export const fishScript = (
  tree: readonly CommandNode[],
): string => `# fish completion of gtm, made by \`gtm completion fish\`
${helpers(tree)}
complete -c gtm -f
${tree.flatMap(linesOf).join("\n")}
`;

/** In single quotes, within which fish knows \\' and \\\\ alone. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** The path is the longest row of words that are commands; options and their values do not matter for it. */
const helpers = (tree: readonly CommandNode[]): string => `function __gtm_path
  set -l paths ${tree
    .filter(({ path }) => path !== "")
    .map(({ path }) => quoted(path))
    .join(" ")}
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- $longer $paths; and set path $longer
  end
  echo $path
end
function __gtm_at
  test (__gtm_path) = "$argv[1]"
end
function __gtm_live
  set -l server
  set -l words (commandline -opc)
  set -l at (contains -i -- --server $words); and set server --server $words[(math $at + 1)]
  gtm completion values $argv[1] $server 2>/dev/null
end`;

const linesOf = ({ path, children, options, args }: CommandNode): readonly string[] => {
  const here = `complete -c gtm -n ${quoted(`__gtm_at ${quoted(path)}`)}`;
  return [
    ...children.map(({ name, description }) => `${here} -a ${quoted(name)} -d ${quoted(description)}`),
    ...options.map((option) => `${here} ${optionWords(option)}`),
    ...args.flatMap((value) => {
      const words = valueWords(value);
      return words === "" ? [] : [`${here} ${words}`];
    }),
  ];
};

const optionWords = ({ flags, description, value }: OptionNode): string => {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  // Exclusive: files are offered only where one is meant.
  const rest = value === null ? "" : ` ${value.kind === "file" ? "-r" : "-x"} ${valueWords(value)}`;
  return `${names.join(" ")} -d ${quoted(description)}${rest}`.trimEnd();
};

const valueWords = (value: Value): string => {
  switch (value.kind) {
    case "words":
      return `-a ${quoted(value.words.join(" "))}`;
    case "live":
      return `-a ${quoted(`(__gtm_live ${value.what})`)}`;
    case "file":
      return "-F";
    case "any":
      return "";
  }
};
