/** What an override does to its region, and did lately, in a few words, for page and command line. */
import type { OverrideView } from "./override-view.ts";

/** "deny", "share 0.2" */
export const kindText = ({
  kind,
  share,
}: {
  readonly kind: string;
  readonly share?: number | null | undefined;
}): string => (share === null || share === undefined ? kind : `${kind} ${share}`);

/** "12 conversations, 3 cells; 2 let in all the same"; "-": it is not known. */
export const touchedText = ({ lastMinute }: Pick<OverrideView, "lastMinute">): string => {
  if (lastMinute === null || lastMinute === undefined) return "-";
  const { conversations, cells, others, yielded, isComplete } = lastMinute;
  const parts = [several(conversations, "conversation"), several(cells, "cell"), several(others, "other turn")].filter(
    (part) => part !== "",
  );
  const whom = parts.length === 0 ? "nobody" : parts.join(", ");
  return `${isComplete ? "" : "more than "}${whom}${yielded === 0 ? "" : `; ${yielded} let in all the same`}`;
};

const several = (count: number, what: string): string =>
  count === 0 ? "" : `${count} ${what}${count === 1 ? "" : "s"}`;
