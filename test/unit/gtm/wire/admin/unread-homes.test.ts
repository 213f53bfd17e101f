/** Orders while a part of the store is away that holds conversations, and not the orders. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pacing } from "#gtm/wire/admin/drain-pacing.ts";
import { OverrideBody } from "#gtm/wire/admin/override-body.ts";
import { overrideOf, placeOverride, planOverride } from "#gtm/wire/admin/override-order.ts";
import { carryOut, type Given, previewOf } from "#gtm/wire/admin/region-order.ts";
import { OperationalError } from "#shared/errors.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { fakeGtm } from "./fake-ports.ts";

const away = async (): Promise<never> => {
  throw new OperationalError("GTM_STORE_UNREACHABLE", "a primary does not answer");
};

const withoutConversations = () => {
  const gtm = fakeGtm();
  const log = recordingLog();
  const ports = { ...gtm.ports, conversations: { ...gtm.ports.conversations, list: away } };
  const region = gtm.state.world.regions.find(({ id }) => id === "frankfurt");
  assert.ok(region !== undefined);
  const drain = (pacing: Pacing): Given => ({
    ...{ verb: "drain", region, actor: "ops", ifMatch: null, passed: [], planId: null },
    action: { to: "drain-all", comment: "its racks are hot", forMs: 7_200_000, pacing },
  });
  const warned = () => log.lines.filter(({ event }) => event === "order.unweighed").length;
  return { gtm, parts: { ports, clock: gtm.clock, log }, drain, warned };
};

describe("conversations that cannot be read", () => {
  it("hold no order about a region up, which says so", async () => {
    const { gtm, parts, drain, warned } = withoutConversations();
    const { view } = await carryOut(parts, drain(null));
    assert.equal(view.admin, "drain-all");
    assert.equal(gtm.ports.orders.current().regions[0]?.admin, "drain-all");
    assert.equal(gtm.state.unweighed, 1);
    assert.equal(warned(), 1);
  });

  it("hold no override up", async () => {
    const { gtm, parts, warned } = withoutConversations();
    const body = OverrideBody.parse({ kind: "deny", region: "frankfurt", comment: "its racks are hot", for: "2h" });
    const wanted = { override: overrideOf(parts, body, "ops"), body, planId: null };
    const { overrides } = await placeOverride(parts, wanted, []);
    assert.equal(overrides.length, 1);
    assert.equal(gtm.state.unweighed, 1);
    assert.equal(warned(), 1);
    await assert.rejects(planOverride(parts, wanted), { code: "GTM_STORE_UNREACHABLE" });
  });

  it("are what a preview and a drain by and by are about: neither is made without them", async () => {
    const { gtm, parts, drain } = withoutConversations();
    await assert.rejects(previewOf(parts, drain(null)), { code: "GTM_STORE_UNREACHABLE" });
    await assert.rejects(carryOut(parts, drain({ overMs: 600_000, pace: "even" })), { code: "GTM_STORE_UNREACHABLE" });
    assert.deepEqual(gtm.ports.orders.current().regions, []);
    assert.equal(gtm.state.unweighed, 0);
  });
});
