/** Pages of what somebody may see: together they are the list without the rest, in its order, whatever the pages' sizes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { permittedPage } from "#gtm/wire/admin/permitted-page.ts";
import type { Page, PageQuery } from "#gtm/wire/admin/ports.ts";

const listOf =
  (items: readonly number[]) =>
  ({ limit, cursor }: PageQuery): Page<number> => {
    const from = cursor === null ? 0 : Number(cursor);
    const next = from + limit;
    return { items: items.slice(from, next), nextCursor: next < items.length ? String(next) : null };
  };

describe("pages of what somebody may see", () => {
  it("are the list without the rest, in its order, and no longer than asked for", async () => {
    const rows = fc.array(fc.nat(9), { maxLength: 1_300 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 700 }), fc.nat(9), async (items, limit, most) => {
        const sees = (item: number): boolean => item <= most;
        const seen: number[] = [];
        let cursor: string | null = null;
        do {
          const page: Page<number> = await permittedPage(listOf(items), { limit, cursor }, sees);
          assert.ok(page.items.length <= limit);
          seen.push(...page.items);
          cursor = page.nextCursor;
        } while (cursor !== null);
        assert.deepEqual(seen, items.filter(sees));
      }),
      { numRuns: 60 },
    );
  });
  it("look at 5 000 rows each, and go on where they came back short", async () => {
    const items = Array.from({ length: 12_000 }, (_, at) => at);
    const sees = (item: number): boolean => item === 11_999;
    const first = await permittedPage(listOf(items), { limit: 50, cursor: null }, sees);
    assert.deepEqual(first, { items: [], nextCursor: "5000" });
    const second = await permittedPage(listOf(items), { limit: 50, cursor: "10000" }, sees);
    assert.deepEqual(second, { items: [11_999], nextCursor: null });
  });
  it("are the list's own where somebody sees everything", async () => {
    const page = await permittedPage(listOf([1, 2, 3]), { limit: 2, cursor: null }, null);
    assert.deepEqual(page, { items: [1, 2], nextCursor: "2" });
  });
});
