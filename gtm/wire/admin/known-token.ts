/** A token that the GTM knows, whether a line of the file or an entry of the store. */
import type { TokenRecord } from "#shared/token-record.ts";
import { type Scope, scopeOf } from "./scope.ts";
import { Role, type TokenEntry } from "./tokens-file.ts";

export type KnownToken = {
  /** Names it in the audit and in lists. */
  readonly id: string;
  readonly source: "file" | "api";
  readonly name: string;
  readonly role: Role;
  /** SHA-256, 32 octets. */
  readonly hash: Uint8Array;
  /** Of the role `acme`: the only names it may answer challenges of; null: any. */
  readonly names: readonly string[] | null;
  readonly scope: Scope;
  /** Unix epoch ms; null: it does not end. */
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
};

export const tokenOfEntry = (entry: TokenEntry): KnownToken => ({
  id: fileTokenId(entry),
  source: "file",
  name: entry.name,
  role: entry.role,
  hash: Buffer.from(entry.sha256, "hex"),
  names: entry.names ?? null,
  scope: scopeOf(entry),
  expiresAtMs: entry.expires ?? null,
  revokedAtMs: null,
});

/** A line has no name of its own; a part of the hash of 256 random bits tells nothing of them. */
export const fileTokenId = ({ sha256 }: Pick<TokenEntry, "sha256">): string => `file-${sha256.slice(0, 12)}`;

/** null: a newer version gave it a role that this one does not know, so it gives nothing here. */
export const tokenOfRecord = (record: TokenRecord): KnownToken | null => {
  const role = Role.safeParse(record.role);
  if (!role.success) return null;
  return {
    id: record.id,
    source: "api",
    name: record.name,
    role: role.data,
    hash: Buffer.from(record.sha256, "hex"),
    names: record.names,
    scope: scopeOf(record),
    expiresAtMs: record.expiresAtMs,
    revokedAtMs: record.revokedAtMs,
  };
};
