/** The key files as the configuration names them: read, and checked as a whole. */
import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { readSecretFile } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import { cookieRingIn, identityKeyIn, type ReportRings, reportRingsIn, ringIn } from "#shared/key-file-text.ts";
import { currentFirst, type KeyRing } from "#shared/key-ring.ts";
import type { LabelKeys } from "#shared/pin-token.ts";

/** Paths; null: not configured. */
export type KeyFiles = {
  readonly identity: string | null;
  readonly signing: string | null;
  readonly ticket: string | null;
  readonly reports: string | null;
  readonly cookie: string | null;
};

/** null: no such file is configured. */
export type Keys = {
  readonly identity: Uint8Array | null;
  readonly signing: KeyRing | null;
  readonly ticket: KeyRing | null;
  readonly reports: ReportRings | null;
  readonly cookie: KeyRing | null;
};

/** 256 regions with two keys each are 80 kB. */
const MOST_BYTES = 262_144;
const READABLE_BY_OTHERS = 0o004n;

/** @throws {OperationalError} GTM_CONFIG_INVALID or GTM_CONFIG_UNREADABLE, naming every fault of every file */
export const readKeys = (files: KeyFiles): Keys => {
  const faults: OperationalError[] = [];
  const read = <T>(path: string | null, parse: (text: string, source: string) => T): T | null => {
    if (path === null) return null;
    try {
      return parse(readSecretFile(path, MOST_BYTES), path);
    } catch (fault) {
      if (!(fault instanceof OperationalError)) throw fault;
      faults.push(fault);
      return null;
    }
  };
  const keys = {
    identity: read(files.identity, identityKeyIn),
    signing: read(files.signing, ringIn),
    ticket: read(files.ticket, ringIn),
    reports: read(files.reports, reportRingsIn),
    cookie: read(files.cookie, cookieRingIn),
  };
  const [first] = faults;
  if (first === undefined) return keys;
  throw new OperationalError(first.code, faults.map(({ message }) => message).join("\n"), { cause: first });
};

/** null where no key files are configured for labels. */
export const labelKeysOf = ({ identity, signing }: Keys): LabelKeys | null => {
  if (identity === null || signing === null) return null;
  const [first, ...others] = currentFirst(signing);
  return { identityKey: identity, signingKeys: [first, ...others] };
};

/** Files that every user of this machine can read. */
export const readableByOthers = (files: KeyFiles): readonly string[] =>
  pathsOf(files).filter((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && (found.mode & READABLE_BY_OTHERS) !== 0n;
  });

/** Changes whenever one of the files does, its permissions included. Never throws. */
export const stampOf = async (files: KeyFiles): Promise<string> => {
  const stamps = pathsOf(files).map((path) =>
    stat(path, { bigint: true }).then(stampText, (fault: NodeJS.ErrnoException) => String(fault.code)),
  );
  return (await Promise.all(stamps)).join();
};

const pathsOf = ({ identity, signing, ticket, reports, cookie }: KeyFiles): readonly string[] =>
  [identity, signing, ticket, reports, cookie].filter((path) => path !== null);

const stampText = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
