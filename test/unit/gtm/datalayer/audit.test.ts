/** The audit in the store: appended, read back newest first, and honest about what it could not do. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAudit } from "#gtm/datalayer/audit.ts";
import type { AuditRecord } from "#shared/audit-record.ts";
import { auditKey } from "#shared/keys.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const entry = (actor: string, path = "/api/v1/regions/paris/down"): AuditRecord => ({
  ...{ v: 1, atMs: 1_000, instance: "gtm-1", actor, role: "operator", tokenId: "tk-1" },
  ...{ method: "POST", path },
  ...{ overrideRule: null, body: { comment: "x" }, status: 200 },
});

const setUp = () => {
  const store = createFallibleStore(createMemoryStore(createManualClock()));
  const log = recordingLog();
  const failures: string[] = [];
  const audit = createAudit({ store, log, failures: (operation) => void failures.push(operation) });
  return { store, log, failures, audit };
};
const all = { limit: 10, cursor: null, actor: null };

describe("the audit in the store", () => {
  it("gives what was recorded by any GTM, newest first, page by page", async () => {
    const { audit } = setUp();
    for (const actor of ["ann", "bob", "ann"]) audit.record(entry(actor));
    const first = await audit.list({ ...all, limit: 2 });
    const second = await audit.list({ ...all, limit: 2, cursor: first.nextCursor });
    assert.deepEqual(
      [...first.items, ...second.items].map(({ actor }) => actor),
      ["ann", "bob", "ann"],
    );
    assert.equal(second.nextCursor, null);
    assert.equal((await audit.list({ ...all, actor: "ann" })).items.length, 2);
  });

  it("has a line in the log for each, without what was said", () => {
    const { audit, log } = setUp();
    audit.record(entry("ann"));
    const [line] = log.lines;
    assert.deepEqual(
      [line?.event, line?.fields],
      [
        "admin.changed",
        { actor: "ann", role: "operator", method: "POST", path: "/api/v1/regions/paris/down", status: 200 },
      ],
    );
  });

  it("counts and tells what the store did not take", async () => {
    const { audit, store, failures } = setUp();
    store.fault = (operation) => (operation === "append" ? "refused" : null);
    audit.record(entry("ann"));
    await until(() => failures.length === 1, "the failure to be told");
    assert.deepEqual(failures, ["audit.append"]);
  });

  it("passes over what is no entry, and tells of it", async () => {
    const { audit, store, failures } = setUp();
    await store.append(auditKey(), "not JSON", 10);
    await store.append(auditKey(), "{}", 10);
    audit.record(entry("ann"));
    assert.deepEqual(
      (await audit.list(all)).items.map(({ actor }) => actor),
      ["ann"],
    );
    assert.deepEqual(failures, ["audit.read", "audit.read"]);
  });
});
