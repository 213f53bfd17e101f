/**
 * Notices that a file is another: by looking at it, and not by being told, since editors put a new file in its place, Kubernetes
 * swaps a symbolic link two folders above, and network file systems tell nobody.
 */
import { stat } from "node:fs/promises";

export type FileWatch = {
  readonly start: () => Promise<void>;
  /** Resolves when no look is under way. */
  readonly stop: () => Promise<void>;
  /** For who cannot wait, such as a test. */
  readonly look: () => Promise<void>;
};

/** A change is told of once two looks in a row see the same: it is then taken between one and two of these after it was made. */
export const LOOK_EVERY_MS = 500;

/** @param onChanged the file is another than at the last call, or than at the start; also when it is gone, or back */
export const watchFile = (path: string, onChanged: () => void): FileWatch => {
  let seen: string | null = null;
  let isSettling = false;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const now = await stampOf(path);
    const before = seen;
    seen = now;
    if (before === null) return;
    if (now !== before) isSettling = true;
    else if (isSettling) {
      isSettling = false;
      onChanged();
    }
  };
  const lookNext = (): Promise<void> => {
    looking = looking.then(look);
    return looking;
  };
  return {
    look: lookNext,
    start: async () => {
      await lookNext();
      timer = setInterval(() => void lookNext(), LOOK_EVERY_MS).unref();
    },
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
};

/** Through every link. Never rejects. */
const stampOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino, size, mtimeNs }) => `${dev}/${ino}/${size}/${mtimeNs}`,
    (fault: NodeJS.ErrnoException) => String(fault.code),
  );
