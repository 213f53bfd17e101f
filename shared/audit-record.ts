/** What somebody did, or was refused, at a GTM's admin API: one entry of the audit stream. */
import { z } from "zod";

export const AuditRecord = z.looseObject({
  v: z.literal(1),
  /** Unix epoch. */
  atMs: z.int().positive(),
  instance: z.string().max(128),
  /** Whose token it was; `loopback` where none is configured. */
  actor: z.string().max(128),
  role: z.string().max(32),
  /** Which token it was, never the token itself; null: none, or written by a version that does not say. */
  tokenId: z.string().max(64).nullable().default(null),
  method: z.string().max(16),
  /** Below the API's address, without the query. */
  path: z.string().max(512),
  /** Of the query: only what is asked for by name; several with commas between them. */
  overrideRule: z.string().max(128).nullable(),
  /** What was sent, where it was JSON and is not long. */
  body: z.unknown().nullable(),
  /** HTTP status of the answer: from 400 on nothing was changed. */
  status: z.int(),
});
export type AuditRecord = z.infer<typeof AuditRecord>;
