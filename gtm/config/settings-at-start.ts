/** A configuration that is taken while the process runs: what it cannot change is as it was at start. */
import { isDeepStrictEqual } from "node:util";
import type { GtmSettings } from "./schema.ts";
import { SETTINGS } from "./settings-table.ts";

/**
 * Whole values that wait for a restart: a list, or an object with nothing else in it, is taken as one.
 *
 * @param rows as the table has them, of either kind
 */
export const restartRoots = (rows: readonly string[], restart: ReadonlySet<string>): readonly string[] => {
  const isRestart = (root: string): boolean =>
    rows
      .filter((row) => row === root || row.startsWith(`${root}.`) || row.startsWith(`${root}[`))
      .every((row) => restart.has(row));
  const rootOf = (row: string): string => {
    const [whole = ""] = row.split("[", 1);
    const keys = whole.split(".");
    const length = keys.findIndex((_, at) => isRestart(keys.slice(0, at + 1).join(".")));
    return keys.slice(0, length + 1).join(".");
  };
  return [...new Set(rows.filter((row) => restart.has(row)).map(rootOf))];
};

const ROOTS = restartRoots(
  SETTINGS.map(([at]) => at),
  new Set(SETTINGS.filter(([, effect]) => effect === "restart").map(([at]) => at)),
);

/** The file's settings with those of the start wherever a restart is needed. */
export const settingsTaken = (file: GtmSettings, atStart: GtmSettings): GtmSettings =>
  ROOTS.reduce<GtmSettings>((settings, root) => withValueOf(settings, atStart, root.split(".")) as GtmSettings, file);

const withValueOf = (into: unknown, from: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return from;
  const [to, of] = [into as Readonly<Record<string, unknown>>, from as Readonly<Record<string, unknown>>];
  if (isDeepStrictEqual(to[key], of[key])) return to;
  return { ...to, [key]: withValueOf(to[key], of[key], rest) };
};
