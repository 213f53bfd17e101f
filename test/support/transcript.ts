/** Transcripts in documents: commands and what they printed, so that a test can run the ones and compare the others. */

export type Step = {
  /** What stands behind "$ ". */
  readonly command: string;
  /** What the document says that it prints. */
  readonly output: string;
  /** Where that stands in the document. */
  readonly from: number;
  readonly to: number;
  /** Comments (`<!-- … -->`) since the command before: what happens first, and what while it runs. */
  readonly before: readonly string[];
  readonly meanwhile: readonly string[];
};

const MEANWHILE = "meanwhile: ";

/** @param text Markdown with ```console blocks */
export const stepsIn = (text: string): readonly Step[] => {
  const steps: Step[] = [];
  let comments: string[] = [];
  for (const found of text.matchAll(/<!-- (.*?) -->|^```console\n([\s\S]*?)^```$/gm)) {
    const [whole, comment, block] = found;
    if (comment !== undefined) comments.push(comment);
    if (block === undefined) continue;
    const start = found.index + whole.indexOf(block);
    for (const one of commandsIn(block, start)) {
      const meanwhile = comments
        .filter((what) => what.startsWith(MEANWHILE))
        .map((what) => what.slice(MEANWHILE.length));
      steps.push({ ...one, before: comments.filter((what) => !what.startsWith(MEANWHILE)), meanwhile });
      comments = [];
    }
  }
  return steps;
};

const commandsIn = (block: string, start: number): readonly Pick<Step, "command" | "output" | "from" | "to">[] => {
  const lines = [...block.matchAll(/^\$ (.*)\n/gm)];
  return lines.map((line, at) => {
    const from = line.index + line[0].length;
    const to = lines[at + 1]?.index ?? block.length;
    return { command: line[1] ?? "", output: block.slice(from, to), from: start + from, to: start + to };
  });
};

/** As a shell takes a line apart that has double quotes and no other special characters. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** Without what is another each time: ids, numbers with their units, the width of columns, who comes first in a list. */
export const masked = (output: string): string =>
  output
    .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "ID")
    .replace(/\b(?=[0-9a-v]*[0-9])[0-9a-v]{13}\b/g, "CONVERSATION")
    .replace(/\d[\d :.]*\d|\d/g, "#")
    .replace(/# (?:ms|s|min|h|d)\b/g, "# t")
    .replace(/(?:# t ?)+/g, "# t")
    .replace(/ +/g, " ");
