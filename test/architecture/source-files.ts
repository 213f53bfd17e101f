/** The repository's source files, for tests that read them. */
import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

export type SourceFile = {
  /** From the top of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
};

export const TOP = join(import.meta.dirname, "..", "..");

const OUTSIDE = new Set(["node_modules", ".git", "coverage"]);

export const sourceFiles = (): readonly SourceFile[] =>
  globSync("**/*.{ts,tsx,mts,cts,js,mjs,cjs}", {
    cwd: TOP,
    exclude: (path) => path.split(sep).some((part) => OUTSIDE.has(part)),
  })
    .toSorted()
    .map((path) => ({ path: path.replaceAll(sep, "/"), text: readFileSync(join(TOP, path), "utf8") }));

/** What runs in production and in the demo. */
export const programFiles = (): readonly SourceFile[] =>
  sourceFiles().filter(({ path }) => /^(?:shared|gtm|edge-agent|deploy)\//.test(path));
