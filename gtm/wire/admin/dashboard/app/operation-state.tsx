/** How far a drain is: a word, and a bar with its numbers beside it. */
import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { Chip, type Tone } from "./chip.tsx";
import { age, count } from "./quantity.ts";

const TONES: Readonly<Record<string, Tone>> = {
  running: "warn",
  "verified-empty": "good",
  cancelled: "quiet",
  superseded: "quiet",
  expired: "bad",
};

export const OperationChip = ({ state }: { readonly state: string }) => (
  <Chip tone={TONES[state] ?? "quiet"}>{state}</Chip>
);

/** Of those that were pinned there when it began; the number says it as well as the bar. */
export const OperationProgress = ({ operation }: { readonly operation: OperationView }) => {
  const { left, atStart, state } = operation;
  const isDone = state === "verified-empty";
  if (left === null && !isDone) return <>–</>;
  const gone = isDone ? atStart.pinned : Math.max(0, atStart.pinned - (left?.pinned ?? 0));
  const text = `${count(gone)} of ${count(atStart.pinned)} gone`;
  return (
    <>
      <progress max={Math.max(1, atStart.pinned)} value={isDone ? Math.max(1, gone) : gone} aria-label={text} /> {text}
    </>
  );
};

export const etaText = ({ etaMs, etaBy }: OperationView): string => {
  if (etaMs === null) return "–";
  return etaBy === "pace" ? `about ${age(etaMs)}` : `${age(etaMs)} at most`;
};
