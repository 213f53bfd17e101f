/** The program `npm run demo`: three regions and a GTM in one command; with --script the story, told without hands. */
import { parseArgs } from "node:util";
import { compare, formatComparison } from "#gtm/simulation/scenarios.ts";
import { createToken } from "#gtm/wire/admin/token.ts";
import { ERROR_TABLE, OperationalError } from "#shared/errors.ts";
import { createLogger } from "#shared/logger.ts";
import { portsAt } from "./places.ts";
import { banner, lineOf, stepLines } from "./screen.ts";
import { type Stack, startStack } from "./stack.ts";
import { storyOf } from "./story.ts";
import { startTraffic } from "./traffic.ts";

const HELP = `npm run demo -- [options]

Three regions (engine simulator and edge agent each) and one GTM, on loopback, all in memory.

  --script          tell the story without hands, at most 45 s; exit 0 only if every step came out
  --quiet           no conversations of its own
  --port-offset N   add N to every port (DNS 5300, HTTP 8080, admin 9443, metrics 9153, engines 8000)
  --token TOKEN     the admin API's token; without it one is made and printed
  --help            this text
`;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const optionsOf = (words: readonly string[]) => {
  const { values } = parseArgs({
    args: [...words],
    options: {
      script: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      "port-offset": { type: "string", default: "0" },
      token: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const offset = Number(values["port-offset"]);
  // The highest port is the admin API's.
  if (!Number.isInteger(offset) || offset < -5_000 || offset + 9_443 > 65_535) {
    throw new TypeError(
      `--port-offset must be a whole number from -5000 to ${65_535 - 9_443}, got ${values["port-offset"]}`,
    );
  }
  const { script, quiet, help, token = createToken() } = values;
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError("--token must be printable ASCII without spaces");
  return { script, quiet, help, token, ports: portsAt(offset) };
};

/** @returns the exit code */
const tellStory = async (stack: Stack): Promise<number> => {
  for (const [at, { title, tell }] of storyOf(stack).entries()) {
    const startedAtMs = performance.now();
    try {
      const seen = await tell();
      print(stepLines(at + 1, title, seen, true, performance.now() - startedAtMs));
    } catch (fault) {
      const seen = fault instanceof Error ? fault.message : String(fault);
      print(stepLines(at + 1, title, seen, false, performance.now() - startedAtMs));
      return 1;
    }
  }
  print("\nThe same engine model in virtual time, four replicas a region, the same clients under four policies:\n");
  print(formatComparison(compare()));
  return 0;
};

const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });

const run = async (): Promise<number> => {
  const options = optionsOf(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (process.platform !== "linux") {
    throw new TypeError(
      `the demo needs Linux, where 127.0.0.2 and 127.0.1.1 are loopback without setup; this is ${process.platform}`,
    );
  }
  const log = createLogger({ level: "error", destination: { write: (line) => process.stderr.write(line) } });
  const stack = await startStack({ ports: options.ports, token: options.token, log });
  try {
    if (options.script) return await tellStory(stack);
    print(banner(options.ports, options.token));
    const traffic = options.quiet ? null : startTraffic(stack, (event) => print(lineOf(event)));
    await untilInterrupted();
    await traffic?.stop();
    return 0;
  } finally {
    await stack.stop();
  }
};

try {
  process.exitCode = await run();
} catch (fault) {
  if (!(fault instanceof OperationalError || fault instanceof TypeError)) throw fault;
  const advice = fault instanceof OperationalError ? `\n${ERROR_TABLE[fault.code]} (${fault.code})` : "";
  process.stderr.write(`demo: ${fault.message}${advice}\n`);
  process.exitCode = 1;
}
