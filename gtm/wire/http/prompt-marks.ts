/** Where the model's turn begins in a prompt that holds a whole chat, as the older completions API takes it. */

/** Of the templates of Llama 2 and 3, ChatML, Gemma, Phi and Zephyr, Alpaca, and of chats written by hand. */
const MARKS: readonly Buffer[] = [
  "[/INST]",
  "<|start_header_id|>assistant",
  "<|im_start|>assistant",
  "<start_of_turn>model",
  "<|assistant|>",
  "### Response:",
  "\nAssistant:",
  "\nAI:",
].map((mark) => Buffer.from(mark));

const MOST_OCTETS = Math.max(...MARKS.map(({ length }) => length));

/** @returns of texts that follow each other: index behind the first mark that ends in this one; −1: none does */
export const createMarkFinder = (): ((text: Buffer) => number) => {
  let before = Buffer.alloc(0);
  return (text) => {
    const joined = Buffer.concat([before, text]);
    let end = -1;
    for (const mark of MARKS) {
      const at = joined.indexOf(mark);
      // The first to end, not the first to begin: that does not depend on where the text is cut.
      if (at !== -1 && (end === -1 || at + mark.length < end)) end = at + mark.length;
    }
    const found = end === -1 ? -1 : end - before.length;
    before = joined.subarray(Math.max(0, joined.length - MOST_OCTETS + 1));
    return found;
  };
};
