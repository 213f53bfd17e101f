/** What a source file imports, read from its text: static, dynamic, `export from`, types included. */

export type Import = {
  /** As written; null: computed, so nobody can tell. */
  readonly specifier: string | null;
  readonly how: "static" | "type" | "dynamic";
};

/** Strings and templates are matched too, so that what looks like a comment inside them is not one. */
const COMMENTS_AND_STRINGS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
/** What stands right before a string that names a module. */
const BEFORE_SPECIFIER = /(?:\bfrom|\bimport|\b(?:import|require|import\.meta\.resolve|getBuiltinModule)\s*\()\s*$/;
const STATIC = /\b(?:import|export)\s+(type\b)?[^"'`;()]*?\bfrom\s*["']([^"'\n]+)["']/g;
const SIDE_EFFECT = /\bimport\s*["']([^"'\n]+)["']/g;
/** `import(…)` also as a type, and the older ways to load a module. */
const CALLED = /\b(?:import|require|import\.meta\.resolve|getBuiltinModule)\s*\(\s*(?:["']([^"'\n]*)["']\s*[,)])?/g;

/** The text without comments and without strings, except those that name a module. */
export const codeOf = (text: string): string =>
  text.replaceAll(COMMENTS_AND_STRINGS, (found, at: number) => {
    if (found.startsWith("/")) return " ";
    return !found.startsWith("`") && BEFORE_SPECIFIER.test(text.slice(Math.max(0, at - 60), at)) ? found : '""';
  });

/** The text without comments; every string stays. */
export const withoutComments = (text: string): string =>
  text.replaceAll(COMMENTS_AND_STRINGS, (found) => (found.startsWith("/") ? " " : found));

export const importsIn = (text: string): readonly Import[] => {
  const code = codeOf(text);
  const found: Import[] = [];
  for (const [, type, specifier = null] of code.matchAll(STATIC)) {
    found.push({ specifier, how: type === undefined ? "static" : "type" });
  }
  for (const [, specifier = null] of code.matchAll(SIDE_EFFECT)) found.push({ specifier, how: "static" });
  for (const [, specifier = null] of code.matchAll(CALLED))
    found.push({ specifier: specifier || null, how: "dynamic" });
  return found;
};

/** Where pure code could reach for the world without importing anything. */
const WORLDLY =
  /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.now|crypto\.|process\.|fetch\(|setTimeout|setInterval|setImmediate|queueMicrotask|globalThis)/g;

/** Strings are left out: a message may speak of anything. */
export const worldlyIn = (text: string): readonly string[] =>
  [...codeOf(text).matchAll(WORLDLY)].map(([found]) => found);
