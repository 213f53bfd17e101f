/** Key files on the disk: whole or not at all, for their owner only, and never over one that is there unless it is meant. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { CliFailure, EXIT } from "./failure.ts";

const OWNER_ONLY = 0o600;
const FOLDER_OF_OWNER = 0o700;
const PERMISSIONS = 0o777;

/** A folder that is there keeps its permissions. @throws {CliFailure} */
export const makeFolder = (path: string): void =>
  attempt(path, () => {
    mkdirSync(path, { recursive: true, mode: FOLDER_OF_OWNER });
  });

/** @returns false: there is such a file already, and it was left alone. @throws {CliFailure} */
export const createKeyFile = (path: string, text: string): boolean =>
  attempt(path, () => {
    const whole = written(path, text, null);
    try {
      // Unlike a rename, this fails where there is one, and somebody may have been faster.
      linkSync(whole, path);
      settle(dirname(path));
      return true;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw fault;
    } finally {
      rmSync(whole, { force: true });
    }
  });

/** Owner, group and permissions stay, so that who could read it still can; a link stays a link. @throws {CliFailure} */
export const replaceKeyFile = (path: string, text: string): void =>
  attempt(path, () => {
    const target = realpathSync(path);
    const whole = written(target, text, statSync(target));
    try {
      renameSync(whole, target);
      settle(dirname(target));
    } finally {
      rmSync(whole, { force: true });
    }
  });

/** @param like whose owner and permissions it gets; null: this user's alone @returns the path of a file beside `path` */
const written = (path: string, text: string, like: Stats | null): string => {
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  const file = openSync(beside, "wx", OWNER_ONLY);
  try {
    if (like !== null) {
      const { uid, gid } = statSync(beside);
      if (uid !== like.uid || gid !== like.gid) fchownSync(file, like.uid, like.gid);
      fchmodSync(file, like.mode & PERMISSIONS);
    }
    writeFileSync(file, text);
    fsyncSync(file);
    return beside;
  } catch (fault) {
    rmSync(beside, { force: true });
    throw fault;
  } finally {
    closeSync(file);
  }
};

/** A new name outlives a crash of the machine only once the folder is on the disk. */
const settle = (folder: string): void => {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
};

const attempt = <T>(path: string, act: () => T): T => {
  try {
    return act();
  } catch (fault) {
    throw new CliFailure(
      EXIT.error,
      `${path} cannot be written: ${fault instanceof Error ? fault.message : String(fault)}`,
    );
  }
};
