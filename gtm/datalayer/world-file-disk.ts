/** A file that is replaced as a whole or not at all: whatever happens while it is written, the one before stands. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export type FileRead =
  | { readonly kind: "read"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly detail: string };

const READ_WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;
const BESIDE = ".new";
/** Many times what a thousand agents report. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** Of anything that may stand at the path; never throws. */
export const readWhole = async (path: string): Promise<FileRead> => {
  let handle: FileHandle | undefined;
  try {
    // A pipe without a writer would be waited for: opened like this, it is not.
    handle = await open(path, READ_WITHOUT_WAITING);
    const about = await handle.stat();
    if (!about.isFile()) return { kind: "failed", detail: "it is no regular file" };
    if (about.size > MOST_BYTES) return { kind: "failed", detail: `${about.size} bytes are more than any world` };
    return { kind: "read", text: await handle.readFile("utf8") };
  } catch (fault) {
    return codeOf(fault) === "ENOENT" ? { kind: "absent" } : { kind: "failed", detail: textOf(fault) };
  } finally {
    await handle?.close().catch(() => undefined);
  }
};

/**
 * Writes beside the file, has the disk confirm it, and renames. Readable by its owner only. Must not run twice at once in a
 * process; other processes that were given the same path replace the file as a whole too.
 *
 * @throws {Error} what the file system said; the file before still stands, and nothing is left beside it where that can be
 */
export const replaceWhole = async (path: string, text: string): Promise<void> => {
  const beside = `${path}.${process.pid}${BESIDE}`;
  // What an earlier process of this number left; also a link that somebody else put there.
  await rm(beside, { force: true });
  try {
    await writeSynced(beside, text);
    await rename(beside, path);
  } catch (fault) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw fault;
  }
};

/**
 * Removes what processes that were killed while they wrote left beside the file.
 *
 * @param before epoch ms; a younger one may be being written by somebody
 * @returns how many
 * @throws {Error} what the file system said
 */
export const sweepBeside = async (path: string, before: number): Promise<number> => {
  const [folder, name] = [dirname(path), basename(path)];
  const isOurs = (entry: string): boolean =>
    entry.startsWith(`${name}.`) &&
    entry.endsWith(BESIDE) &&
    /^\d+$/.test(entry.slice(name.length + 1, -BESIDE.length));
  let swept = 0;
  for (const entry of (await readdir(folder)).filter(isOurs)) {
    const left = join(folder, entry);
    if ((await lstat(left)).mtimeMs >= before) continue;
    await rm(left, { force: true });
    swept += 1;
  }
  return swept;
};

const writeSynced = async (path: string, text: string): Promise<void> => {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    // Without this a power cut could leave the new name with nothing behind it.
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const codeOf = (fault: unknown): unknown => (fault instanceof Error && "code" in fault ? fault.code : null);
const textOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
