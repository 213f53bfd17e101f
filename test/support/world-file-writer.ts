/**
 * Replaces a file again and again in a process of its own that may be killed, or told how large a file may be. Of each time
 * it says the outcome, and how many files stand beside it then: here, before the next begins to write its own.
 */
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { replaceWhole } from "#gtm/datalayer/world-file-disk.ts";

const [path = "", ...counts] = process.argv.slice(2);

/** Written without the schema, which takes longer to load than most of these processes live. */
const textOf = (cells: number): string =>
  JSON.stringify({
    ...{ v: 1, savedAtMs: 1, instance: `writer-${process.pid}`, reports: [] },
    orders: { v: 1, rev: 0, regions: [], overrides: [] },
    cells: Array.from({ length: cells }, (_, cell) => ({ cell: `chat|${cell}|4`, region: "frankfurt" })),
  });

for (const cells of counts) {
  const outcome = await replaceWhole(path, textOf(Number(cells))).then(
    () => "written",
    (fault: NodeJS.ErrnoException) => fault.code ?? fault.message,
  );
  const beside = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.`));
  process.stdout.write(`${outcome}, ${beside.length} beside\n`);
}
