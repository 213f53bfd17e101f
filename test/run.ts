/** `npm test [part of a path…]`: the check, then what the tests need, then every test file; none is ever skipped. */
import { spawn, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { delimiter, dirname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { bringPrerequisites } from "./prerequisites.ts";
import { chooseFiles } from "./selection.ts";

const top = join(import.meta.dirname, "..");
/** All test files together; the whole suite takes a fraction of it. */
const TIME_LIMIT_MS = 40 * 60_000;
/** One test: one that hangs is named instead of waited for. Of a file, test/file-limit.ts. */
const TEST_TIME_LIMIT_MS = 120_000;
/** More than two processors can do at once: most of the long ones wait, for failovers, silence and time-outs. */
const CONCURRENCY = 3;
/** Each of these runs two GTMs and four regions as processes, and holds them to seconds: first, and fewer at a time. */
const FAULTS = "test/faults/";
const FAULTS_CONCURRENCY = 2;

/**
 * The Node that runs this, and the tools of node_modules, before whatever else the path holds. Some thousand processes are started
 * from the same sources: what one has compiled the next need not (half of a program's start).
 */
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(top, "node_modules", ".cache", "tests"),
  PATH: [dirname(process.execPath), join(top, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter),
};

/** @returns the first exit code that is not 0 */
const check = (): number => {
  const steps = [
    ["tsc", "--noEmit"],
    // The page runs in a browser and has its own library.
    ["tsc", "--noEmit", "-p", "gtm/wire/admin/dashboard"],
    ["biome", "check", "--error-on-warnings", "."],
  ] as const;
  for (const [tool, ...args] of steps) {
    process.stdout.write(`> ${[tool, ...args].join(" ")}\n`);
    const { status } = spawnSync(tool, args, { cwd: top, env, stdio: "inherit" });
    if (status !== 0) return status ?? 1;
  }
  return 0;
};

/**
 * The tests have a process group of their own, so that the end of time is the end of whatever they started too.
 *
 * @param deadlineMs on the monotonic clock
 */
const runTests = (files: readonly string[], concurrency: number, deadlineMs: number): Promise<number> => {
  const args = [
    "--import",
    pathToFileURL(join(top, "test", "file-limit.ts")).href,
    "--test",
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${TEST_TIME_LIMIT_MS}`,
    "--test-reporter=spec",
    ...files,
  ];
  const tests = spawn(process.execPath, args, { cwd: top, env, stdio: "inherit", detached: true });
  const end = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(tests.pid ?? Number.NaN), signal);
    } catch {
      // It has ended by itself.
    }
  };
  const timer = setTimeout(() => {
    process.stderr.write(`The tests did not end within ${TIME_LIMIT_MS / 1_000} s.\n`);
    end("SIGKILL");
  }, deadlineMs - performance.now());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end(signal));
  return new Promise((resolve, reject) => {
    tests.once("error", reject);
    tests.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code ?? 1);
    });
  });
};

const run = async (): Promise<number> => {
  const files = globSync("test/**/*.test.ts", { cwd: top })
    .map((path) => path.replaceAll(sep, "/"))
    .toSorted();
  const { chosen, idle } = chooseFiles(files, process.argv.slice(2));
  if (idle.length > 0) {
    process.stderr.write(`No test file's path holds ${idle.join(", ")}.\n`);
    return 2;
  }
  const checked = check();
  if (checked !== 0) return checked;
  const lacking = await bringPrerequisites();
  if (lacking !== null) {
    process.stderr.write(`${lacking}\n`);
    return 1;
  }
  const deadlineMs = performance.now() + TIME_LIMIT_MS;
  const [faults, others] = [chosen.filter(isFault), chosen.filter((file) => !isFault(file))];
  const faultsCode = faults.length === 0 ? 0 : await runTests(faults, FAULTS_CONCURRENCY, deadlineMs);
  // What else fails is worth to know, too.
  const othersCode = others.length === 0 ? 0 : await runTests(others, CONCURRENCY, deadlineMs);
  return faultsCode === 0 ? othersCode : faultsCode;
};

const isFault = (file: string): boolean => file.startsWith(FAULTS);

process.exitCode = await run();
