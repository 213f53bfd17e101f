/** Waiting for something no longer than it is worth. */

export type WithinDeadline<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly cause: unknown }
  /** It goes on behind our back; its later failure is heard by nobody. */
  | { readonly kind: "late" };

export const withinDeadline = <Value>(work: Promise<Value>, deadlineMs: number): Promise<WithinDeadline<Value>> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, deadlineMs, { kind: "late" });
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve({ kind: "done", value });
      },
      (cause) => {
        clearTimeout(timer);
        resolve({ kind: "failed", cause });
      },
    );
  });
