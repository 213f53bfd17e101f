/** Copies a text, and says so for a moment. */
import { useEffect, useState } from "preact/hooks";

const SAID_MS = 1_500;

export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [copied, setCopied] = useState<"" | "copied" | "cannot copy">("");
  useEffect(() => {
    if (copied === "") return;
    const timer = setTimeout(() => setCopied(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied("copied");
    } catch {
      // A page that is not served from loopback or by TLS has no clipboard; the text stands beside the button.
      setCopied("cannot copy");
    }
  };
  return (
    <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
      {copied === "" ? "copy" : copied}
    </button>
  );
};
