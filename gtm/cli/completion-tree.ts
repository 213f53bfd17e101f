/** What a shell has to know of the commands to complete them. */
import type { Argument, Command, Option } from "commander";

/** What may stand at a place: one of these words, a name that a GTM knows, a file, or anything. */
export type Value =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "live"; readonly what: "regions" | "pools" | "models" }
  | { readonly kind: "file" }
  | { readonly kind: "any" };

export type OptionNode = {
  /** Such as "-o" and "--output". */
  readonly flags: readonly string[];
  readonly description: string;
  /** null: it takes none. */
  readonly value: Value | null;
};

export type CommandNode = {
  /** Without the program's name, such as "decisions list"; "" is the program. */
  readonly path: string;
  readonly children: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  /** In their order; the last one repeats where it may. */
  readonly args: readonly Value[];
};

/** Every command, the program first; hidden ones are left out. */
export const treeOf = (program: Command): readonly CommandNode[] => nodesOf(program, "");

const nodesOf = (command: Command, path: string): readonly CommandNode[] => {
  const help = command.createHelp();
  const children = help.visibleCommands(command).filter((one) => one.name() !== "help");
  const node: CommandNode = {
    path,
    children: children.map((one) => ({ name: one.name(), description: firstLine(one.description()) })),
    options: help.visibleOptions(command).map(optionNode),
    args: command.registeredArguments.map(argumentValue),
  };
  const below = children.flatMap((one) => nodesOf(one, path === "" ? one.name() : `${path} ${one.name()}`));
  return [node, ...below];
};

const optionNode = (option: Option): OptionNode => ({
  flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null),
  description: firstLine(option.description),
  value: option.isBoolean() ? null : placeValue(option.flags, option.argChoices),
});

const argumentValue = (argument: Argument): Value => placeValue(`<${argument.name()}>`, argument.argChoices);

/** @param placeholder text with the name of the value in brackets, such as "--region <region>" */
const placeValue = (placeholder: string, choices: readonly string[] | undefined): Value => {
  if (choices !== undefined) return { kind: "words", words: choices };
  const name = /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(placeholder)?.[1] ?? "";
  if (name === "region") return { kind: "live", what: "regions" };
  if (name === "pool") return { kind: "live", what: "pools" };
  if (name === "model") return { kind: "live", what: "models" };
  return /file|folder|path|report|trace/.test(name) ? { kind: "file" } : { kind: "any" };
};

const firstLine = (text: string): string => text.split("\n")[0] ?? "";
