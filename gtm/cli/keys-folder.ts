/** A folder of key files: which file is called how, and what stands in those that are there. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Keys, readKeys } from "#gtm/keys/key-files.ts";
import type { RegionId } from "#shared/ids.ts";

const FILE_NAMES = {
  identity: "identity.key",
  signing: "signing.keys",
  ticket: "ticket.keys",
  reports: "reports.keys",
  cookie: "cookie.keys",
} as const;
export type KeyFileKind = keyof typeof FILE_NAMES;
export const KINDS: readonly KeyFileKind[] = ["identity", "signing", "ticket", "reports", "cookie"];

/** First line of the file. */
export const TITLES = {
  signing: "keys that sign labels and pin tokens; the current one signs, all are accepted",
  ticket: "keys that seal tickets; the current one seals, all are accepted",
  cookie: "secrets of DNS cookies; the current one makes them, all are accepted",
} as const;

export type KeyFolder = { readonly path: string; readonly keys: Keys };

/** @returns null for each file that is not there. @throws {OperationalError} where one that is there cannot be used */
export const readFolder = (dir: string): KeyFolder => {
  const path = resolve(dir);
  const there = (kind: KeyFileKind): string | null => {
    const file = fileIn(path, kind);
    return existsSync(file) ? file : null;
  };
  const keys = readKeys({
    identity: there("identity"),
    signing: there("signing"),
    ticket: there("ticket"),
    reports: there("reports"),
    cookie: there("cookie"),
  });
  return { path, keys };
};

export const fileIn = (folder: string, kind: KeyFileKind): string => join(folder, FILE_NAMES[kind]);

/** What the agents of one region sign with; the GTMs have all of them in reports.keys. */
export const agentFileIn = (folder: string, region: RegionId): string => join(folder, `report-${region}.key`);
