/** What drain, undrain, down and up mean, and what they ask for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminState } from "#gtm/domain/region.ts";
import {
  DownBody,
  DrainBody,
  downAction,
  drainAction,
  UpBody,
  undrainAction,
  upAction,
  type Verb,
  whyNot,
} from "#gtm/wire/admin/region-action.ts";

describe("an order's body", () => {
  it("of drain gives mode, comment and how long, in milliseconds", () => {
    const body = DrainBody.parse({ mode: "drain-new", comment: " driver update ", for: "2h" });
    assert.deepEqual(drainAction(body), { to: "drain-new", comment: "driver update", forMs: 7_200_000, pacing: null });
  });
  it("of down stands until taken back where it says nothing of time", () => {
    assert.deepEqual(downAction(DownBody.parse({ comment: "x" })), {
      to: "down",
      comment: "x",
      forMs: null,
      pacing: null,
    });
  });
  it("of up takes down back, or forces", () => {
    assert.equal(upAction(UpBody.parse({})).to, "active");
    assert.deepEqual(upAction(UpBody.parse({ forced: true, comment: "x", for: "1h" })), {
      to: "forced-up",
      comment: "x",
      forMs: 3_600_000,
      pacing: null,
    });
    assert.equal(undrainAction({}).to, "active");
  });
  const refused: readonly { what: string; body: unknown; says: RegExp }[] = [
    { what: "without a comment", body: { mode: "drain-all" }, says: /comment is required/ },
    { what: "with a comment of spaces", body: { mode: "drain-all", comment: "   " }, says: /comment is required/ },
    { what: "without a mode", body: { comment: "x" }, says: /drain-new/ },
    { what: "for 73h", body: { mode: "drain-all", comment: "x", for: "73h" }, says: /1s to 72h/ },
    { what: "for 0s", body: { mode: "drain-all", comment: "x", for: "0s" }, says: /1s to 72h/ },
    { what: "for a bare number", body: { mode: "drain-all", comment: "x", for: 7200 }, says: /duration with its unit/ },
    { what: "with a key that is not known", body: { mode: "drain-all", comment: "x", froce: true }, says: /froce/ },
  ];
  for (const { what, body, says } of refused) {
    it(`of drain ${what} is refused`, () => {
      const parsed = DrainBody.safeParse(body);
      assert.match(parsed.error?.message ?? "accepted", says);
    });
  }
  it("of up that forces needs a comment", () => {
    assert.match(UpBody.safeParse({ forced: true }).error?.message ?? "accepted", /comment is required/);
  });
});

describe("drain is not down", () => {
  const cases: readonly { verb: Verb; admin: AdminState; isAllowed: boolean }[] = [
    { verb: "undrain", admin: "drain-new", isAllowed: true },
    { verb: "undrain", admin: "drain-all", isAllowed: true },
    { verb: "undrain", admin: "active", isAllowed: true },
    { verb: "undrain", admin: "down", isAllowed: false },
    { verb: "undrain", admin: "forced-up", isAllowed: false },
    { verb: "up", admin: "down", isAllowed: true },
    { verb: "up", admin: "forced-up", isAllowed: true },
    { verb: "up", admin: "active", isAllowed: true },
    { verb: "up", admin: "drain-new", isAllowed: false },
    { verb: "up", admin: "drain-all", isAllowed: false },
    { verb: "drain", admin: "down", isAllowed: false },
    { verb: "drain", admin: "drain-new", isAllowed: true },
    { verb: "down", admin: "drain-all", isAllowed: true },
  ];
  for (const { verb, admin, isAllowed } of cases) {
    it(`${verb} of a region that is ${admin} is ${isAllowed ? "allowed" : "refused"}`, () => {
      assert.equal(whyNot(verb, "paris", admin) === null, isAllowed);
    });
  }
});
