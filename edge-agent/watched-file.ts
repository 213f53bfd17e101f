/** A file's content, read again once the file is another one: for credentials and certificates that are rotated while the agent runs. */
import { statSync } from "node:fs";

export type WatchedFile<T> = () => {
  readonly content: T;
  /** Why the newest version is not the content; null: it is. */
  readonly fault: string | null;
};

/**
 * @param read what is made of the file; throws where it cannot be used
 * @throws whatever `read` throws the first time; later the content stays what it was, with a fault
 */
export const watchedFile = <T>(path: string, read: (path: string) => T): WatchedFile<T> => {
  let stamp = stampOf(path);
  let content = read(path);
  let fault: string | null = null;
  return () => {
    const now = stampOf(path);
    if (now !== stamp) {
      stamp = now;
      try {
        content = read(path);
        fault = null;
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
      }
    }
    return { content, fault };
  };
};

/** What differs between two files of one name. A link that is turned to another file is another file. */
const stampOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? "absent" : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}`;
};
