/** The command line `gtm`: its subcommands, and how the program ends. */
import { Command, CommanderError } from "commander";
import { ERROR_TABLE, OperationalError } from "#shared/errors.ts";
import { acmeCommand } from "./acme.ts";
import { agentsCommand } from "./agents.ts";
import { withExamples } from "./api-command.ts";
import { auditCommand } from "./audit.ts";
import { type CheckConfig, checkCommand } from "./check.ts";
import { completionCommand } from "./completion.ts";
import { configCommand } from "./config.ts";
import { conversationsCommand } from "./conversations.ts";
import { decisionsCommand } from "./decisions.ts";
import { dnsCommand } from "./dns.ts";
import { doctorCommand } from "./doctor.ts";
import { eventsCommand } from "./events.ts";
import { explainCommand } from "./explain.ts";
import { CliFailure, EXIT, exitLines } from "./failure.ts";
import { healthCommand } from "./health.ts";
import { instancesCommand } from "./instances.ts";
import type { CliIo } from "./io.ts";
import { keysCommand } from "./keys.ts";
import { modelsCommand } from "./models.ts";
import { operationsCommand } from "./operations.ts";
import { downCommand, drainCommand, undrainCommand, upCommand } from "./orders.ts";
import { forceCommand, overridesCommand } from "./overrides.ts";
import { placementsCommand } from "./placements.ts";
import { regionsCommand } from "./regions.ts";
import { schemaCommand } from "./schema.ts";
import { simulateCommand } from "./simulate.ts";
import { snapshotCommand } from "./snapshot.ts";
import { statusCommand } from "./status.ts";
import { tokenCommand } from "./token.ts";
import { versionCommand } from "./version.ts";
import { whatIfCommand } from "./what-if.ts";
import { zonesCommand } from "./zones.ts";

export type CliParts = {
  readonly version: string;
  readonly checkConfig: CheckConfig;
  /** JSON Schema of the configuration. */
  readonly configSchema: () => Promise<object>;
  /** Runs the GTM until it is told to stop. @returns the exit code */
  readonly serve: (options: { readonly config: string; readonly watch: boolean }) => Promise<number>;
};

export const createCommand = (io: CliIo, parts: CliParts): Command => {
  const program = new Command("gtm")
    .description("llm-gtm: sends each conversation with a language model to the region that holds its context")
    .version(parts.version);
  const commands = [
    serveCommand(parts),
    checkCommand(io, parts.checkConfig),
    schemaCommand(io, parts.configSchema),
    configCommand(io),
    doctorCommand(io),
    statusCommand(io),
    instancesCommand(io),
    regionsCommand(io),
    placementsCommand(io),
    modelsCommand(io),
    agentsCommand(io),
    explainCommand(io),
    snapshotCommand(io),
    whatIfCommand(io),
    simulateCommand(io),
    decisionsCommand(io),
    eventsCommand(io),
    conversationsCommand(io),
    drainCommand(io),
    undrainCommand(io),
    downCommand(io),
    upCommand(io),
    forceCommand(io),
    overridesCommand(io),
    operationsCommand(io),
    auditCommand(io),
    acmeCommand(io),
    tokenCommand(io),
    keysCommand(io),
    zonesCommand(io),
    dnsCommand(io),
    healthCommand(io),
    completionCommand(io),
    versionCommand(io, parts.version),
  ];
  for (const command of commands) program.addCommand(command);
  program.addHelpText("after", EPILOGUE);
  settle(program, io);
  return program;
};

const EPILOGUE = `
Environment:
  GTM_TOKEN   token for the admin API, where it asks for one (gtm token create)
  NO_COLOR    any value: no colours

Exit codes:
${exitLines()
  .map((line) => `  ${line}`)
  .join("\n")}

Data goes to standard output, messages to standard error.`;

const serveCommand = ({ serve }: CliParts): Command =>
  withExamples(new Command("serve").description("run the GTM until it is told to stop (SIGTERM)"), [
    "serve --config /etc/gtm/gtm.yaml",
  ])
    .requiredOption("--config <file>", "its configuration")
    .option("--no-watch", "take a changed file only when told (SIGHUP, gtm config reload)")
    .action(async (options: { config: string; watch: boolean }) => {
      const exitCode = await serve(options);
      if (exitCode !== 0) throw new CliFailure(exitCode, "");
    });

/** Subcommands that are added do not inherit: nothing may exit or write on its own. */
const settle = (command: Command, io: CliIo): void => {
  command
    .exitOverride()
    .showHelpAfterError("(add --help for how to use it)")
    .configureOutput({
      writeOut: io.print,
      writeErr: io.tell,
      outputError: (text, write) => write(text.replace(/^error: /, "gtm: ")),
    });
  for (const sub of command.commands) settle(sub, io);
};

/**
 * Runs one command.
 *
 * @param words what follows the program's name
 * @returns the exit code
 * @throws whatever is a bug
 */
export const runCommand = async (program: Command, words: readonly string[], io: CliIo): Promise<number> => {
  try {
    await program.parseAsync([...words], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof CliFailure) {
      if (error.message !== "") io.tell(`gtm: ${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof OperationalError) {
      io.tell(`gtm: ${error.message}\n${ERROR_TABLE[error.code]} (${error.code})\n`);
      return EXIT.error;
    }
    throw error;
  }
};
