/** The edge agent: its command line, and `startAgent` for those who run it inside their own process. */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { systemClock } from "#shared/clock.ts";
import { loadConfig } from "#shared/config.ts";
import { ERROR_TABLE, OperationalError } from "#shared/errors.ts";
import { createLogger, type LogLevel } from "#shared/logger.ts";
import { CliFailure, EXIT } from "./cli/failure.ts";
import type { CliIo } from "./cli/io.ts";
import { AgentConfig } from "./config.ts";
import { ENGINES } from "./engines/known.ts";
import type { GatewayConfig } from "./gateway/config.ts";
import { VERSION } from "./version.ts";

export { AgentConfig } from "./config.ts";
export { type AgentOptions, type RunningAgent, startAgent } from "./start-agent.ts";

const configIn = (path: string, { env }: CliIo): AgentConfig =>
  loadConfig(AgentConfig, path, { env, code: "AGENT_CONFIG_INVALID" });

// Each command loads what it needs and nothing else: an agent without the gateway's parts is 10 MiB smaller.
const gatewayConfigIn = async (path: string, { env }: CliIo): Promise<GatewayConfig> => {
  const { GatewayConfig: schema } = await import("./gateway/config.ts");
  return loadConfig(schema, path, { env, code: "AGENT_CONFIG_INVALID" });
};

const seconds = (text: string): number => {
  const value = Number(text);
  if (/^\d+(?:\.\d+)?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError("must be a number of seconds above 0.");
};

const ofSchema = (text: string): "agent" | "gateway" => {
  if (text === "agent" || text === "gateway") return text;
  throw new InvalidArgumentError("must be agent or gateway.");
};

const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];
const logLevel = (text: string): LogLevel => {
  const level = LOG_LEVELS.find((one) => one === text);
  if (level !== undefined) return level;
  throw new InvalidArgumentError(`must be one of ${LOG_LEVELS.join(", ")}.`);
};

const createProgram = (io: CliIo): Command => {
  const program = new Command("edge-agent").description(
    "llm-gtm edge agent: tells the GTMs what the engines of one region hold, how busy and how fast they are",
  );
  program
    .command("run")
    .description("report each second until it is told to stop (SIGTERM); the log goes to standard output")
    .requiredOption("--config <file>", "its configuration")
    .option("--log-level <level>", LOG_LEVELS.join(", "), logLevel, "info")
    .action(async ({ config, logLevel: level }: { config: string; logLevel: LogLevel }) => {
      const { run } = await import("./cli/run.ts");
      const exitCode = await run(configIn(config, io), systemClock, createLogger({ level }));
      if (exitCode !== EXIT.ok) throw new CliFailure(exitCode, "");
    });
  program
    .command("check")
    .description("try the configuration, the store, and each engine and exporter once; exit 7 where there are problems")
    .requiredOption("--config <file>", "the configuration to try")
    .action(async ({ config }: { config: string }) => {
      const { check } = await import("./cli/check.ts");
      await check(configIn(config, io), config, systemClock, io);
    });
  program
    .command("scrape")
    .description("print the report exactly as it would be put, without putting it")
    .requiredOption("--once", "one scrape, so without rates")
    .requiredOption("--config <file>", "the agent's configuration")
    .action(async ({ config }: { config: string }) => {
      const { scrapeOnce } = await import("./cli/scrape-once.ts");
      await scrapeOnce(configIn(config, io), systemClock, io);
    });
  program
    .command("read")
    .description("say what captured payloads mean: one metrics page or two, what other paths answered, a GPU page")
    .argument(
      "<file...>",
      "a page, a later page of the same engine, its /v1/models, /v1/loads, /info…; recognised by content",
    )
    .option("--after <seconds>", "time between the two pages", seconds)
    .option("--engine <name>", ["auto", ...ENGINES.map(({ name }) => name)].join(", "), "auto")
    .option("--json", "as JSON", false)
    .action(async (files: readonly string[], options: { after?: number; engine: string; json: boolean }) => {
      const { read } = await import("./cli/read.ts");
      read(files, { ...options, after: options.after ?? null }, io);
    });
  addGateway(program, io);
  program
    .command("schema")
    .description("print the form of a configuration as JSON Schema, draft 2020-12")
    .argument("[of]", "agent (default) or gateway", ofSchema, "agent")
    .action(async (of: "agent" | "gateway") => {
      const { printSchema } = await import("./cli/schema.ts");
      printSchema(of, io);
    });
  program
    .command("version")
    .description("print the version")
    .action(() => io.print(`${VERSION}\n`));
  program.addHelpText("after", EPILOGUE);
  for (const command of [program, ...program.commands]) settle(command, io);
  return program;
};

/** In the words that commander has for it. */
const NO_CONFIG = "error: required option '--config <file>' not specified";

const addGateway = (program: Command, io: CliIo): void => {
  const gateway: Command = program
    .command("gateway")
    .description(
      "be the region's front door until told to stop (SIGTERM): open tickets, choose the replica, stream, measure; a process of its own",
    )
    .option("--config <file>", "its configuration")
    .option("--log-level <level>", LOG_LEVELS.join(", "), logLevel, "info")
    .action(async ({ config, logLevel: level }: { config?: string; logLevel: LogLevel }) => {
      if (config === undefined) gateway.error(NO_CONFIG);
      const { runGateway } = await import("./cli/gateway.ts");
      const exitCode = await runGateway(await gatewayConfigIn(config, io), systemClock, createLogger({ level }));
      if (exitCode !== EXIT.ok) throw new CliFailure(exitCode, "");
    });
  const check: Command = gateway
    .command("check")
    .description("try the configuration, keys, certificate, store and engines once; exit 7 where there are problems")
    .option("--config <file>", "the configuration to try")
    .action(async () => {
      // Also where it stands before the word check.
      const { config } = check.optsWithGlobals<{ config?: string }>();
      if (config === undefined) check.error(NO_CONFIG);
      const { checkGateway } = await import("./cli/gateway-check.ts");
      await checkGateway(await gatewayConfigIn(config, io), config, systemClock, io);
    });
  settle(check, io);
};

const EPILOGUE = `
Exit codes:
  0 done   1 error   2 wrong use   7 check found problems

Data goes to standard output, messages to standard error.`;

/** Nothing may exit or write on its own. */
const settle = (command: Command, io: CliIo): void => {
  command
    .exitOverride()
    .showHelpAfterError("(add --help for how to use it)")
    .configureOutput({
      writeOut: io.print,
      writeErr: io.tell,
      outputError: (text, write) => write(text.replace(/^error: /, "edge-agent: ")),
    });
};

/** @returns the exit code. @throws whatever is a bug */
export const runCommandLine = async (words: readonly string[], io: CliIo): Promise<number> => {
  try {
    await createProgram(io).parseAsync([...words], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof CliFailure) {
      if (error.message !== "") io.tell(`edge-agent: ${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof OperationalError) {
      io.tell(`${error.message}\nedge-agent: ${ERROR_TABLE[error.code]} (${error.code})\n`);
      return EXIT.error;
    }
    throw error;
  }
};

if (import.meta.main) {
  const { stdout, stderr, env } = process;
  const io: CliIo = {
    print: (text) => {
      stdout.write(text);
    },
    tell: (text) => {
      stderr.write(text);
    },
    env,
  };
  // A reader such as `head` that has seen enough closes the pipe: the command is done, not broken.
  stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.error));
  process.exitCode = await runCommandLine(process.argv.slice(2), io);
  // After a stop that failed or was cut short, parts may still be open and would keep the process.
  if (process.argv[2] === "run" || process.argv[2] === "gateway") process.exit();
}
