/** Where in a configuration a value stands: keys and, in lists, numbers from 0. Empty: the whole file. */
export type Path = readonly PropertyKey[];

/** For people: `regions[0].probe.url`. */
export const pathText = (path: Path): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");

/** For maps: no two paths share it, whatever characters their keys hold. */
export const pathKey = (path: Path): string => JSON.stringify(path);

/** @param key of pathKey */
export const pathOfKey = (key: string): Path => JSON.parse(key) as Path;
