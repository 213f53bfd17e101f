/** The file that says who may use the admin API: a YAML list of names, roles and hashes, read again when it changes. */
import { statSync } from "node:fs";
import { z } from "@hono/zod-openapi";
import { loadConfig } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/** Each role may do what the ones before it may: read; order; and, later, hand out tokens and reload. */
export const ROLES = ["viewer", "operator", "admin"] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

export const ActorName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/, "must be 1 to 128 letters, digits, dots, hyphens, underscores or @");

export const TokenEntry = z.strictObject({
  /** Goes into orders and logs. */
  name: ActorName,
  role: Role,
  /** SHA-256 of the token, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits, as `gtm token create` prints them"),
});
export type TokenEntry = z.infer<typeof TokenEntry>;

/** An empty file is a list of nobody. */
const TokenList = z.array(TokenEntry).nullable();

/** The line of the file for one token. */
export const tokenLine = (entry: TokenEntry): string =>
  `- { name: ${JSON.stringify(entry.name)}, role: ${entry.role}, sha256: ${entry.sha256} }`;

/** @throws {OperationalError} GTM_CONFIG_INVALID naming every fault, GTM_CONFIG_UNREADABLE */
export const readTokens = (path: string): readonly TokenEntry[] =>
  loadConfig(TokenList, path, { env: {}, code: "GTM_CONFIG_INVALID" }) ?? [];

export type TokensFile = {
  /** The entries as the file has them now; after a faulty edit those it had before. */
  readonly entries: () => readonly TokenEntry[];
};

/** Reads the file at once, so that a faulty one stops the start. @throws as readTokens does */
export const openTokensFile = (path: string, options: { log: Logger; metrics: Metrics }): TokensFile => {
  const refused = options.metrics.counter({
    name: "gtm_admin_tokens_file_refused_total",
    help: "Edits of the tokens file that could not be read; the tokens before them stay valid.",
  });
  let stamp = stampOf(path);
  let entries = readTokens(path);
  const readAgain = (): void => {
    try {
      entries = readTokens(path);
      options.log.info("tokens.read", { tokens: entries.length });
    } catch (error) {
      if (!(error instanceof OperationalError)) throw error;
      refused.inc();
      options.log.warn("tokens.refused", { code: error.code, message: error.message });
    }
  };
  return {
    entries: () => {
      const now = stampOf(path);
      if (now !== stamp) {
        stamp = now;
        readAgain();
      }
      return entries;
    },
  };
};

/** Changes whenever the file does; "absent" while there is none. */
const stampOf = (path: string): string => {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "absent" : `${stat.ino}/${stat.size}/${stat.mtimeNs}`;
};
