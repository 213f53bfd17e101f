/** `gtm simulate`: the same traffic under several policies, in virtual time. */
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { withExamples } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import type { SimulateOptions } from "./simulate-options.ts";

const number = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("Expected a number.");
  return value;
};

export const simulateCommand = (io: CliIo): Command =>
  withExamples(
    new Command("simulate").description(
      "play traffic against several policies in virtual time, and tell them apart (no GTM is needed or touched)",
    ),
    [
      "simulate --scenario steady --load 0.8",
      "simulate --scenario steady uneven-demand --policy gtm gorgo-like sticky --traffic agents --users 108 --seeds 12",
      "simulate --scenario region-lost --regions 6 --html report.html --json report.json",
      "simulate --traffic mooncake:conversation_trace.jsonl.gz --load 0.6 --jobs 4",
      "simulate --config deploy/config/simulate-all.yaml --html report.html",
      "simulate --describe --traffic agents --users 108",
      "simulate --oracle-diff --load 0.4 --seeds 1",
      "simulate --from-decisions decisions.jsonl --policy gtm sticky",
      "simulate --compare before.json after.json",
    ],
  )
    .option("--scenario <names...>", "what happens: names, or all (default: steady)")
    .option("--policy <names...>", "who steers: names, or all (default: all)")
    .option(
      "--traffic <kind>",
      "chat, agents, retrieval, mooncake:PATH, claude:PATH, ragpulse:PATH or decisions:PATH (default: chat)",
    )
    .option("--from-decisions <file>", "replay what a GTM decided (gtm decisions list -o jsonl), instead of --traffic")
    .addOption(new Option("--regions <count>", "how many AWS regions (default: 3)").choices(["3", "6"]))
    .option("--load <share>", "of what the replicas could prefill without any cache (default: 0.8)", number)
    .option("--users <count>", "clients in a closed loop, instead of a load", number)
    .option("--seeds <count>", "paired seeds, the same for every policy (default: 6)", number)
    .option("--first-seed <seed>", "the first of them (default: 1)", number)
    .option("--duration <time>", "of virtual time that is measured (default: 15m)")
    .option("--warm-up <time>", "of virtual time before it, not counted (default: 10m)")
    .option("--jobs <threads>", "how many runs at once; does not change the result", number, availableParallelism())
    .option("--config <file>", "scenarios and policies with their parameters, in YAML, instead of the options above")
    .option("--describe", "play nothing: print what the traffic is like, and whether affinity helps it")
    .option("--oracle-diff", "play gtm alone: print where the greedy oracle decides better, and what misled")
    .option("--json <file>", "write the report there, for --compare and for others")
    .option("--html <file>", "write the report there, as a page with plots that fetches nothing")
    .option("--compare <files...>", "simulate nothing: tell two reports apart, first the older one")
    .addHelpText("after", NOTES)
    .action(async (options: SimulateOptions) => {
      // The simulation is read only where it is asked for.
      const { compareFiles, simulate } = await import("./simulate-action.ts");
      if (options.compare !== undefined) compareFiles(options.compare, io);
      else await interruptible((signal) => simulate(options, io, signal));
    });

const NOTES = `
Same seeds, same report, whatever --jobs says. Ctrl-C stops, and reports the runs that are done (exit 1); a second
one stops at once. docs/simulation.md explains every column. --scenario and --policy with an unknown name list the known ones.`;

const interruptible = async (act: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(EXIT.error);
    stopping.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    await act(stopping.signal);
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
  if (stopping.signal.aborted) throw new CliFailure(EXIT.error, "broken off: the report holds the runs that were done");
};
