/** The command line that does, or shows, the same as what stands beside it. */
import { useState } from "preact/hooks";

/** Words that a shell would not take as they are stand in quotes. */
export const shellWord = (word: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export const Command = ({ words }: { readonly words: readonly string[] }) => {
  const [isCopied, setIsCopied] = useState(false);
  const text = ["gtm", ...words.map(shellWord)].join(" ");
  const copy = async (): Promise<void> => {
    await navigator.clipboard?.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <p class="command">
      <code>{text}</code>{" "}
      <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
        {isCopied ? "copied" : "copy"}
      </button>
    </p>
  );
};
