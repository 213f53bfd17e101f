/** Who did what: appended to one stream that every GTM of the store writes and reads, and never changed. */
import { AuditRecord } from "#shared/audit-record.ts";
import { OperationalError } from "#shared/errors.ts";
import { AUDIT_CAP, auditKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store, StreamEntry } from "#shared/store.ts";
import { jsonOrNull } from "./json-or-null.ts";
import type { StoreFailures } from "./store-failures.ts";

export type AuditEntry = AuditRecord & { readonly id: string };
export type AuditQuery = {
  readonly limit: number;
  /** The id that the page before ended with; null: from the newest on. */
  readonly cursor: string | null;
  /** null: anybody. */
  readonly actor: string | null;
};
export type AuditPage = { readonly items: readonly AuditEntry[]; readonly nextCursor: string | null };

export type Audit = {
  /** Writes a line to the log, always, and an entry to the store; that the store would not is counted and told of. */
  readonly record: (record: AuditRecord) => void;
  /** Newest first. @throws {OperationalError} GTM_STORE_UNREACHABLE, GTM_STORE_REFUSED */
  readonly list: (query: AuditQuery) => Promise<AuditPage>;
};

export type AuditOptions = { readonly store: Store; readonly log: Logger; readonly failures: StoreFailures };

export const createAudit = ({ store, log, failures }: AuditOptions): Audit => ({
  record: (record) => {
    const { actor, role, method, path, status } = record;
    log.info("admin.changed", { actor, role, method, path, status });
    store.append(auditKey(), JSON.stringify(record), AUDIT_CAP).catch((cause) => failures("audit.append", cause));
  },
  list: async ({ limit, cursor, actor }) => {
    // The whole stream is a few megabytes at most, and people look at it now and then.
    const entries = await store.newest(auditKey(), AUDIT_CAP);
    const from = cursor === null ? 0 : entries.findIndex(({ id }) => id === cursor) + 1;
    const items: AuditEntry[] = [];
    for (const entry of entries.slice(from)) {
      const read = entryOf(entry, failures);
      if (read === null || (actor !== null && read.actor !== actor)) continue;
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null };
      items.push(read);
    }
    return { items, nextCursor: null };
  },
});

/** null: not one of ours, which is counted and told of. */
const entryOf = ({ id, value }: StreamEntry, failures: StoreFailures): AuditEntry | null => {
  const parsed = AuditRecord.safeParse(jsonOrNull(value));
  if (parsed.success) return { ...parsed.data, id };
  failures("audit.read", new OperationalError("GTM_RECORD_REFUSED", `${auditKey()}: entry ${id} is none`));
  return null;
};
