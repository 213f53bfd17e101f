/** A line to be used elsewhere, with a button that copies it. */
import { CopyButton } from "./copy-button.tsx";

/** @param what it is, for those who only hear the button */
export const CodeLine = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <p class="command">
    <code>{text}</code> <CopyButton text={text} label={what} />
  </p>
);
