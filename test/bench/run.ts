/** `npm run bench [name…] [--json]`: every benchmark in a process of its own, the machine's state first, then a table. */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Bench, BenchRow } from "./bench.ts";
import { benchTable } from "./bench-table.ts";

type Outcome = { readonly name: string; readonly rows: readonly BenchRow[] | null };

const folder = import.meta.dirname;
const { values: wish, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, only: { type: "string" } },
});

/** In the child: one benchmark, its rows as the last line of standard output. */
const runOne = async (file: string): Promise<void> => {
  const { bench } = (await import(pathToFileURL(file).href)) as { bench: Bench };
  process.stdout.write(`\n${JSON.stringify(await bench.run())}\n`);
};

const runAll = (): void => {
  const files = globSync("*.bench.ts", { cwd: folder }).toSorted();
  const chosen = files.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
  if (chosen.length === 0) {
    process.stderr.write(`No benchmark is called ${names.join(" or ")}; there are ${files.join(", ")}.\n`);
    process.exitCode = 2;
    return;
  }
  const machine = {
    node: process.version,
    processors: availableParallelism(),
    processor: cpus()[0]?.model ?? "unknown",
    loadAverage: loadavg().map((load) => Number(load.toFixed(2))),
  };
  if (!wish.json) {
    const load = machine.loadAverage.join(" ");
    process.stdout.write(
      `load average ${load} · node ${machine.node} · ${machine.processors} × ${machine.processor}\n`,
    );
  }
  const outcomes = chosen.map((file): Outcome => {
    const name = basename(file, ".bench.ts");
    const rows = rowsOf(file);
    if (!wish.json) process.stdout.write(`\n${name}\n${rows === null ? "  failed\n" : benchTable(rows)}`);
    return { name, rows };
  });
  if (wish.json) process.stdout.write(`${JSON.stringify({ machine, benches: outcomes }, null, 2)}\n`);
  if (outcomes.some(({ rows }) => rows === null)) process.exitCode = 1;
};

/** null: the benchmark failed; what it said went to standard error. */
const rowsOf = (file: string): readonly BenchRow[] | null => {
  const child = spawnSync(process.execPath, [import.meta.filename, "--only", join(folder, file)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1_048_576,
  });
  if (child.status !== 0) return null;
  return JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "null") as readonly BenchRow[] | null;
};

if (wish.only === undefined) runAll();
else await runOne(wish.only);
