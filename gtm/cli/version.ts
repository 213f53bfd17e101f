/** `gtm version`: what this program is; the GTM's own version is in `gtm status`. */
import { Command } from "commander";
import { type Format, formatOption, withExamples } from "./api-command.ts";
import type { CliIo } from "./io.ts";

export const versionCommand = (io: CliIo, version: string): Command =>
  withExamples(new Command("version").description("print the version of this program"), ["version", "version -o json"])
    .addOption(formatOption())
    .action(({ output }: { output: Format }) => {
      const { version: node } = process;
      io.print(output === "table" ? `llm-gtm ${version}, node ${node}\n` : `${JSON.stringify({ version, node })}\n`);
    });
