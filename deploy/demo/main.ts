/** The program `npm run demo`: three regions and a GTM in one command; with --script the story, told without hands. */
import { compare, formatComparison } from "#gtm/simulation/comparison.ts";
import { ERROR_TABLE, OperationalError } from "#shared/errors.ts";
import { createLogger } from "#shared/logger.ts";
import { type DemoOptions, HELP, optionsOf } from "./options.ts";
import { type DemoRedis, openRedis } from "./redis.ts";
import { banner, lineOf, stepLines } from "./screen.ts";
import { INSTANCES, ONLY_INSTANCE } from "./settings.ts";
import { type Stack, startStack } from "./stack.ts";
import { memoryStores } from "./stores.ts";
import { storyOf } from "./story.ts";
import { startTraffic } from "./traffic.ts";

const INTERRUPTED = 130;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** @returns the exit code */
const tellStory = async (stack: Stack, redis: DemoRedis | null, interrupted: AbortSignal): Promise<number> => {
  const say = (line: string): void => print(`      ${line}`);
  for (const [at, { title, tell }] of storyOf(stack, { redis, say }).entries()) {
    const startedAtMs = performance.now();
    const seen = await Promise.race([tell().then(told, failed), once(interrupted)]);
    if (seen === null) return INTERRUPTED;
    print(stepLines(at + 1, title, seen.text, seen.isGood, performance.now() - startedAtMs));
    if (!seen.isGood) return 1;
  }
  // Virtual time knows no store.
  if (redis !== null) return 0;
  print("\nThe same engine model in virtual time, four replicas a region, the same clients under four policies:\n");
  print(formatComparison(compare()));
  return 0;
};

type Seen = { readonly isGood: boolean; readonly text: string };
const told = (text: string): Seen => ({ isGood: true, text });
const failed = (fault: unknown): Seen => ({
  isGood: false,
  text: fault instanceof Error ? fault.message : String(fault),
});

/** Resolves when somebody asked for the end. */
const once = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });

const show = async (stack: Stack, options: DemoOptions, interrupted: AbortSignal): Promise<number> => {
  const { token, quiet, redis } = options;
  print(banner({ stack, token, redisUrl: redis?.url ?? null }));
  const isOneOfSome = stack.gtms.length > 1;
  const traffic = quiet ? null : startTraffic(stack, (event) => print(lineOf(event, isOneOfSome)));
  await once(interrupted);
  await traffic?.stop();
  return 0;
};

/** @returns null: what was asked cannot be done, and why was said */
const understood = (words: readonly string[]): DemoOptions | null => {
  try {
    const options = optionsOf(words);
    if (options.help || process.platform === "linux") return options;
    complain(
      `the demo needs Linux, where 127.0.0.2 and 127.0.1.1 are loopback without setup; this is ${process.platform}`,
    );
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault;
    complain(fault.message);
  }
  return null;
};

const complain = (what: string): void => {
  process.stderr.write(`demo: ${what}\n`);
};

const run = async (): Promise<number> => {
  const options = understood(process.argv.slice(2));
  if (options === null) return 1;
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  const log = createLogger({ level: "error", destination: { write: (line) => process.stderr.write(line) } });
  const { offset, token, script } = options;
  const redis =
    options.redis === null ? null : await openRedis({ wish: options.redis, isLost: script, log, say: print });
  try {
    const instances = redis === null ? ([ONLY_INSTANCE] as const) : INSTANCES;
    const stack = await startStack({ offset, instances, token, log, stores: redis?.stores ?? memoryStores() });
    try {
      return script
        ? await tellStory(stack, redis, interruption.signal)
        : await show(stack, options, interruption.signal);
    } finally {
      await stack.stop();
    }
  } finally {
    await redis?.stop();
  }
};

try {
  process.exitCode = await run();
} catch (fault) {
  if (!(fault instanceof OperationalError)) throw fault;
  complain(`${fault.message}\n${ERROR_TABLE[fault.code]} (${fault.code})`);
  process.exitCode = 1;
}
