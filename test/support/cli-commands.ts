/** The command line's own commands: what their help prints as examples, and whether words are ones that a command takes. */
import { type Command, CommanderError } from "commander";
import { type CliParts, createCommand } from "#gtm/cli/command.ts";
import type { CliIo } from "#gtm/cli/io.ts";

const PARTS: CliParts = {
  version: "1",
  configSchema: async () => ({}),
  checkConfig: () => ({ summary: "", warnings: [] }),
  serve: async () => 0,
};

const quiet = (print: (text: string) => void): CliIo => ({
  ...{ print, tell: () => {}, isInteractive: false, isColourful: false, columns: null, env: {} },
  ask: async () => "",
  epochMs: () => 0,
  sleep: async () => {},
});

/** As a shell reads a line, without what it does with the output. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/ > \S+$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

export type Example = { readonly command: string; readonly line: string };

/** Every example, with its command such as "decisions list"; and the commands that have none. */
export const examplesOf = (): { readonly examples: readonly Example[]; readonly without: readonly string[] } => {
  const examples: Example[] = [];
  const without: string[] = [];
  let text = "";
  const program = createCommand(
    quiet((more) => {
      text += more;
    }),
    PARTS,
  );
  for (const leaf of leavesOf(program)) {
    text = "";
    leaf.outputHelp();
    const lines = (text.split("Examples:\n")[1] ?? "").split("\n").filter((line) => line.startsWith("  gtm "));
    const command = pathOf(leaf);
    if (lines.length === 0) without.push(command);
    examples.push(...lines.map((line) => ({ command, line: line.trim() })));
  }
  return { examples, without };
};

const pathOf = (command: Command): string =>
  command.parent === null || command.parent.parent === null
    ? command.name()
    : `${pathOf(command.parent)} ${command.name()}`;

/** Whether a command takes these words; nothing is done. @returns what is wrong; null: nothing */
export const faultOfWords = async (words: readonly string[]): Promise<string | null> => {
  const program = createCommand(
    quiet(() => {}),
    PARTS,
  );
  for (const leaf of leavesOf(program)) leaf.action(() => {});
  try {
    await program.parseAsync([...words], { from: "user" });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
};
