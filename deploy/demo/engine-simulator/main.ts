/** One region's engine simulator as a process; prints one line of JSON once it listens. */
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { speedFromRate } from "#gtm/domain/serving.ts";
import { systemClock } from "#shared/clock.ts";
import { createLifecycle, type Part, runUntilSignal } from "#shared/lifecycle.ts";
import { createLogger } from "#shared/logger.ts";
import { duration, size } from "#shared/units.ts";
import { FLAVOURS, type Flavour } from "./flavour.ts";
import { DEFAULT_SIMULATOR, type EngineSimulatorOptions } from "./options.ts";
import { createEngineSimulator } from "./simulator.ts";

const { engine, ...defaults } = DEFAULT_SIMULATOR;
const count = z.coerce.number().int().min(1);
const positive = z.coerce.number().positive().finite();

/** An argument as its schema reads it. */
const as =
  <T>(schema: z.ZodType<T>) =>
  (text: string): T => {
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    throw new InvalidArgumentError(result.error.issues[0]?.message ?? "not understood");
  };
/** As `as`, for an option that may stand several times. */
const also =
  <T>(schema: z.ZodType<T>) =>
  (text: string, before: readonly T[]): readonly T[] => [...before, as(schema)(text)];

const address = z
  .string()
  .regex(/^.+:\d{1,5}$/, "must be ADDRESS:PORT")
  .transform((text) => {
    const colon = text.lastIndexOf(":");
    return { address: text.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(text.slice(colon + 1)) };
  })
  .refine(({ port }) => port <= 65_535, "the port must be 0 to 65535");

const neighbour = z
  .string()
  .regex(/^[a-z-]+@\d{1,5}$/, "must be an engine and a port, such as sglang@8001")
  .transform((text) => ({ flavour: text.split("@")[0] ?? "", port: Number(text.split("@")[1]) }))
  .pipe(z.object({ flavour: z.enum(FLAVOURS), port: z.int().max(65_535) }));

const program = new Command("engine-simulator")
  .description("a region's inference engines, simulated: speaks like vLLM, SGLang or llama.cpp, behaves like an engine")
  .requiredOption("--listen <address:port>", "where to listen; port 0: any free one", as(address))
  .requiredOption("--region <id>", "name of the region")
  .requiredOption("--model <id>", "the model it serves")
  .option("--alias <name...>", "further names of the model", defaults.aliases.slice())
  .option("--api-key <key>", "what clients must send for anything under /v1", defaults.apiKey ?? undefined)
  .addOption(new Option("--flavour <engine>", "whose words it speaks").choices(FLAVOURS).default(defaults.flavour))
  .option(
    "--beside <engine@port>",
    "a further engine in this process, such as sglang@8001; again for each",
    also(neighbour),
    [],
  )
  .option("--replicas <n>", "replicas of the model; llama-cpp has one", as(count), defaults.replicas)
  .option("--prefill-tokens-per-second <n>", "speed of a replica on short prompts", as(positive), 8_000)
  .option("--kv-tokens <n>", "KV memory of a replica", as(count), engine.kvTokens)
  .option("--max-running <n>", "most requests a replica runs together", as(count), engine.maxRunning)
  .option("--itl-ms <ms>", "gap between two tokens of a lone answer", as(positive), engine.itlMs)
  .option("--cold-start <duration>", "time until it listens, such as 2s", as(duration), engine.coldStartMs)
  .option("--gpu-memory <size>", "memory of each of the eight GPUs, such as 80GiB", as(size), defaults.gpuMemoryBytes)
  .option("--context-limit <tokens>", "longest prompt and output together", as(count), defaults.contextLimitTokens)
  .addOption(
    new Option("--routing <how>", "how the region chooses a replica")
      .choices(["affinity", "round-robin"])
      .default(defaults.routing),
  )
  .option("--seed <n>", "what chance begins with", as(z.coerce.number().int()), defaults.seed)
  .option("--until-stdin-ends", "end when standard input does: a parent that dies takes it along", false)
  .parse();

/** As declared above; commander does not carry the types over. */
type Arguments = {
  readonly listen: z.infer<typeof address>;
  readonly region: string;
  readonly model: string;
  readonly alias: readonly string[];
  readonly apiKey?: string;
  readonly flavour: Flavour;
  readonly beside: readonly z.infer<typeof neighbour>[];
  readonly replicas: number;
  readonly prefillTokensPerSecond: number;
  readonly kvTokens: number;
  readonly maxRunning: number;
  readonly itlMs: number;
  readonly coldStart: number;
  readonly gpuMemory: number;
  readonly contextLimit: number;
  readonly routing: EngineSimulatorOptions["routing"];
  readonly seed: number;
  readonly untilStdinEnds: boolean;
};
const args = program.opts<Arguments>();

// Whoever read the log may be gone, as a parent that was killed is; that is no reason to end otherwise than asked.
process.stderr.on("error", () => {});
// Standard output is for the one line that a parent process waits for.
const log = createLogger({ level: "info", destination: process.stderr });
/** As llama.cpp's own: its memory is cut into as many equal parts, and one of them is all that a conversation may have. */
const LLAMA_CPP_SLOTS = 4;

const simulatorOf = (flavour: Flavour, listen: Arguments["listen"]) =>
  createEngineSimulator({
    ...defaults,
    listen,
    region: args.region,
    model: args.model,
    aliases: args.alias,
    apiKey: args.apiKey ?? null,
    flavour,
    replicas: flavour === "llama-cpp" ? 1 : args.replicas,
    engine: {
      ...engine,
      speed: speedFromRate(args.prefillTokensPerSecond),
      kvTokens: args.kvTokens,
      maxRunning: flavour === "llama-cpp" ? Math.min(args.maxRunning, LLAMA_CPP_SLOTS) : args.maxRunning,
      itlMs: args.itlMs,
      coldStartMs: args.coldStart,
    },
    routing: args.routing,
    seed: args.seed,
    contextLimitTokens: args.contextLimit,
    gpuMemoryBytes: args.gpuMemory,
    clock: systemClock,
    log,
  });
const simulator = simulatorOf(args.flavour, args.listen);
const neighbours = args.beside.map(({ flavour, port }) => simulatorOf(flavour, { ...args.listen, port }));
const announcement: Part = {
  name: "announcement",
  start: async () => {
    process.stdout.write(
      `${JSON.stringify({ event: "listening", region: args.region, ...simulator.address(), beside: neighbours.map((one) => one.address()) })}\n`,
    );
  },
  stop: async () => {},
};
if (args.untilStdinEnds) process.stdin.resume().once("end", () => process.kill(process.pid, "SIGTERM"));
const lifecycle = createLifecycle([simulator, ...neighbours, announcement], {
  log,
  stopDeadlineMs: defaults.drainMs + 2_000,
});
process.exit(await runUntilSignal(lifecycle, { log, signals: process }));
