/** What in a source file goes against the tables of layers.ts. */
import { dirname, join, normalize } from "node:path/posix";
import { DOORS, FAMILIES, LAYERS, type Layer, PURE } from "./layers.ts";
import { type Import, importsIn, worldlyIn } from "./source.ts";

/**
 * @param path from the top of the repository, with slashes
 * @returns one sentence an offence, such as "gtm/domain/x.ts → zod: its layer may not import it"
 */
export const offencesIn = (path: string, text: string): readonly string[] => {
  const layer = LAYERS.find(({ files }) => fits(path, files));
  if (layer === undefined) return [`${path}: belongs to no layer`];
  const offences = importsIn(text).flatMap((found) => offenceOf(path, layer, found));
  if (!fits(path, PURE)) return offences;
  return [...offences, ...worldlyIn(text).map((word) => `${path}: ${word} in code that must be pure`)];
};

/** A target as the tables name it: a path from the top, `node:`, or a package's name, with the family it belongs to. */
type Target = { readonly name: string; readonly isPackage: boolean };

const offenceOf = (path: string, layer: Layer, { specifier, how }: Import): readonly string[] => {
  if (specifier === null) return path.startsWith("test/") ? [] : [`${path}: imports something computed`];
  const target = targetOf(path, specifier);
  if (!isAllowed(target, layer)) return [`${path} → ${specifier}: its layer may not import it`];
  return offenceAtDoor(path, target, how).map((why) => `${path} → ${specifier}: ${why}`);
};

const isAllowed = ({ name, isPackage }: Target, { may }: Layer): boolean =>
  isPackage ? may.includes(name) || may.includes("npm:") : name === "node:" ? may.includes("node:") : fits(name, may);

const offenceAtDoor = (path: string, { name, isPackage }: Target, how: Import["how"]): readonly string[] => {
  const door = DOORS.find(({ dependency }) => isPackage && dependency === name);
  if (door === undefined || path.startsWith("deploy/") || path.startsWith("test/")) return [];
  if (!fits(path, door.files)) return [`${name} is imported only by ${door.files.join(", ")}`];
  return door.isDynamicOnly === true && how === "static" ? [`${name} is loaded at start, by import()`] : [];
};

const targetOf = (path: string, specifier: string): Target => {
  if (specifier.startsWith("#")) return { name: specifier.slice(1), isPackage: false };
  if (specifier.startsWith(".")) return { name: normalize(join(dirname(path), specifier)), isPackage: false };
  if (specifier.startsWith("node:")) return { name: "node:", isPackage: false };
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  return { name: FAMILIES[name] ?? name, isPackage: true };
};

/** Whether a path is one of these: a folder's, a file's or a name's beginning; `gtm/*` means files of that folder alone. */
const fits = (path: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => {
    if (!pattern.endsWith("*")) return pattern.endsWith(".ts") ? path === pattern : path.startsWith(pattern);
    const folder = pattern.slice(0, -1);
    return path.startsWith(folder) && !path.slice(folder.length).includes("/");
  });
