/** The file that says who may use the admin API: a YAML list of names, roles and hashes, read again when it changes. */
import { statSync } from "node:fs";
import { z } from "@hono/zod-openapi";
import { loadConfig } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { DIMENSIONS, ScopeFields } from "./scope.ts";

/** Each role may do what the ones before it may: read; order; answer challenges, hand out tokens, reload. */
export const RANKS = ["viewer", "operator", "admin"] as const;
/** `acme` may present and clean up challenges of certificate authorities, and nothing else. */
export const Role = z.enum([...RANKS, "acme"]);
export type Role = z.infer<typeof Role>;

export const ActorName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/, "must be 1 to 128 letters, digits, dots, hyphens, underscores or @");

export const HostName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/,
    "must be a whole name in lower case, without `*.` and without a dot at the end",
  );

export const TokenEntry = z.strictObject({
  /** Goes into orders and logs. */
  name: ActorName,
  role: Role,
  /** SHA-256 of the token, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits, as `gtm token create` prints them"),
  /** Of an `acme` token: the only names it may have certificates for, a wildcard's without its `*.`; absent: the whole zone. */
  names: z.array(HostName).min(1).max(256).optional(),
  /** Globs; absent: any. */
  ...ScopeFields,
  /** From then on it is refused; absent: it stands until its line is removed. */
  expires: z.iso
    .datetime({ offset: true, error: "must be an instant such as 2027-01-31T00:00:00Z" })
    .transform((text) => Date.parse(text))
    .optional(),
});
export type TokenEntry = z.infer<typeof TokenEntry>;

type Limits = Pick<TokenEntry, "role" | "names" | "regions" | "pools" | "tenants">;

/** What does not go together, by field. */
export const limitFaults = (entry: Limits): readonly { readonly path: string; readonly message: string }[] =>
  entry.role === "acme"
    ? DIMENSIONS.flatMap((name) =>
        entry[name] === undefined ? [] : [{ path: name, message: "do not go with the role acme, which takes names" }],
      )
    : entry.names === undefined
      ? []
      : [{ path: "names", message: "belong to the role acme only" }];

/** An empty file is a list of nobody. */
const TokenList = z
  .array(
    TokenEntry.superRefine((entry, context) => {
      for (const { path, message } of limitFaults(entry)) context.addIssue({ code: "custom", path: [path], message });
    }),
  )
  .nullable();

/** The line of the file for one token. */
export const tokenLine = (entry: TokenEntry): string => {
  const { name, role, sha256, names, expires } = entry;
  const lists = DIMENSIONS.flatMap((each) =>
    listText(
      each,
      entry[each]?.map((glob) => JSON.stringify(glob)),
    ),
  );
  const end = expires === undefined ? [] : [`expires: "${new Date(expires).toISOString()}"`];
  const fields = [`name: ${JSON.stringify(name)}`, `role: ${role}`, `sha256: ${sha256}`];
  return `- { ${[...fields, ...listText("names", names), ...lists, ...end].join(", ")} }`;
};

const listText = (field: string, values: readonly string[] | undefined): readonly string[] =>
  values === undefined ? [] : [`${field}: [${values.join(", ")}]`];

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
