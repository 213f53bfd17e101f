/** What looks at a body while it passes by, and what it has seen. */
import type { Scanned } from "./body-scan.ts";

export type BodyReader = {
  /** Sees every chunk once, in order; where it gives a promise, the next is for later. Neither throws nor rejects. */
  readonly write: (chunk: Buffer) => Promise<void> | undefined;
  /** What is known while the body is still coming. */
  readonly soFar: () => Scanned;
  /** Whether the chat's opening is known, or not needed. */
  readonly isOpened: () => boolean;
  /** Once. @param isWhole whether what was written is all of it */
  readonly end: (isWhole: boolean) => Promise<ReadBody> | ReadBody;
};

export type ReadBody = {
  /** null: it was no such body. */
  readonly scanned: Scanned | null;
  /** Octets of the text, where that is not what was sent; null: it is. */
  readonly bytes: number | null;
};
