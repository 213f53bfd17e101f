/** A Dockerfile as instructions: enough to check one, not to build it. */

export type Instruction = {
  /** In capitals, such as "COPY". */
  readonly name: string;
  /** All of the line after the name, continuation lines joined by a space. */
  readonly text: string;
};

export const instructionsOf = (dockerfile: string): readonly Instruction[] =>
  dockerfile
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...rest] = line.trim().split(/\s+/);
      return { name: name.toUpperCase(), text: rest.join(" ") };
    });

/**
 * The words of an instruction in its exec form, which no shell reads.
 *
 * @throws {Error} where it is written in the shell form
 */
export const execWordsOf = ({ name, text }: Instruction): readonly string[] => {
  const list = text.slice(Math.max(0, text.indexOf("[")));
  try {
    const words: unknown = JSON.parse(list);
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  } catch (cause) {
    throw new Error(`expected ${name} as a list of strings, found ${text}`, { cause });
  }
  throw new Error(`expected ${name} as a list of strings, found ${text}`);
};
