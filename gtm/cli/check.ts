/** `gtm check`: reads a configuration and says everything that is wrong with it, or what it holds. */
import { Command } from "commander";
import { OperationalError } from "#shared/errors.ts";
import { withExamples } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";

/** @throws {OperationalError} naming every fault */
export type CheckConfig = (
  path: string,
  env: CliIo["env"],
) => {
  readonly summary: string;
  /** What works and should not stay so. */
  readonly warnings: readonly string[];
};

export const checkCommand = (io: CliIo, checkConfig: CheckConfig): Command =>
  withExamples(
    new Command("check").description(
      "say everything that is wrong with a configuration (exit 1), or that it is usable",
    ),
    ["check /etc/llm-gtm/gtm.yaml"],
  )
    .argument("[file]", "the configuration to read")
    .option("--config <file>", "the same")
    .action((file: string | undefined, options: { config?: string }) => {
      const config = file ?? options.config;
      if (config === undefined) throw new CliFailure(EXIT.usage, "which file? gtm check FILE");
      const { summary, warnings } = checked(config, io, checkConfig);
      for (const warning of warnings) io.tell(`warning: ${warning}\n`);
      io.print(`${config}: usable. ${summary}\n`);
    });

const checked = (path: string, io: CliIo, checkConfig: CheckConfig): ReturnType<CheckConfig> => {
  try {
    return checkConfig(path, io.env);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const faults = error.message.split("\n").length;
    throw new CliFailure(
      EXIT.error,
      `${path} cannot be used (${faults === 1 ? "1 fault" : `${faults} faults`}):\n${error.message}`,
    );
  }
};
