/** A part of the page that is fetched when it is first drawn. */
import { useEffect, useState } from "preact/hooks";

export type Part<Value> = { readonly value: Value | null; readonly hasFailed: boolean };

/** @param load always the same function: an `import()`, which fetches once */
export const usePart = <Value>(load: () => Promise<Value>): Part<Value> => {
  const [part, setPart] = useState<Part<Value>>({ value: null, hasFailed: false });
  useEffect(() => {
    let isGone = false;
    load().then(
      (value) => {
        if (!isGone) setPart({ value, hasFailed: false });
      },
      // Another version answers now, or none: what the part draws, tables say.
      () => {
        if (!isGone) setPart({ value: null, hasFailed: true });
      },
    );
    return () => {
      isGone = true;
    };
  }, [load]);
  return part;
};
