/** `tokens`: the admin API's tokens that were made through it, each as a hash; and when one was used. */
import { z } from "zod";

/** Of those that have not expired, revoked ones included. */
export const MOST_TOKENS = 500;
/** Two GTMs that were cut off from each other may have given as many each. */
export const MOST_RECORDED = 2 * MOST_TOKENS;

const Globs = z.array(z.string().min(1).max(128)).max(64).nullable().default(null);

export const TokenRecord = z.looseObject({
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(128),
  /** One that this version does not know gives nothing. */
  role: z.string().min(1).max(32),
  /** SHA-256 of the token, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of the role `acme`: the only names it may answer challenges of. */
  names: z.array(z.string().min(1).max(253)).max(256).nullable().default(null),
  /** Globs; null: any. */
  regions: Globs,
  pools: Globs,
  tenants: Globs,
  comment: z.string().min(1).max(500),
  createdBy: z.string().min(1).max(160),
  /** The token that it was made with; null: another way to sign in. */
  createdWith: z.string().max(64).nullable().default(null),
  /** Unix epoch, as all instants here. */
  createdAtMs: z.int().positive(),
  /** Of two that differ the younger counts. */
  changedAtMs: z.int().positive(),
  expiresAtMs: z.int().positive(),
  /** null: it was not. It stays until it would have expired, so that a GTM that was cut off does not bring it again. */
  revokedAtMs: z.int().positive().nullable().default(null),
  revokedBy: z.string().max(160).nullable().default(null),
});
export type TokenRecord = z.infer<typeof TokenRecord>;

/** Every GTM keeps them in memory too, and puts them back when the key is gone. */
export const TokensRecord = z.looseObject({
  v: z.literal(1),
  rev: z.int().nonnegative(),
  tokens: z.array(TokenRecord).max(MOST_RECORDED),
});
export type TokensRecord = z.infer<typeof TokensRecord>;

/** `token-used:{id}`: when some GTM last let it in, to the minute. */
export const TokenUse = z.looseObject({ v: z.literal(1), atMs: z.int().positive() });
export type TokenUse = z.infer<typeof TokenUse>;
