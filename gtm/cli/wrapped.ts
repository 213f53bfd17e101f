/** Sentences in lines that a terminal of 100 columns shows whole. */

export const COLUMNS = 100;

/** @returns lines, each ended; a word that is longer than a line stands alone on one */
export const wrapped = (text: string, columns = COLUMNS): string => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return `${[...lines, line].join("\n")}\n`;
};
