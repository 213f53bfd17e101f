/**
 * Two things that somebody does before and in an emergency, in Chromium: asking what an order would do to the latest turns, and
 * passing a safety rule by name. No error on the console, nothing that the CSP stopped, nothing that axe finds.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { aRegion } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

let admin: RunningAdmin;
let browser: AdminBrowser;

before(async () => {
  admin = await runningAdmin({ regions: [aRegion("frankfurt")] });
  for (let nth = 0; nth < 7; nth++) admin.gtm.decide();
  browser = await openAdminBrowser(admin.url);
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await admin?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

describe("what if the only region were down", () => {
  it("is answered from the latest turns, and nothing is ordered", async () => {
    const { page, open, seen, inspect } = browser;
    await open("what-if");
    await page.getByLabel("frankfurt").selectOption("down");
    await page.getByRole("button", { name: "Decide again" }).click();
    await seen("7 of 7 turns would go elsewhere");
    await seen("gtm what-if --region frankfurt=down");
    assert.match(page.url(), /region\.frankfurt=down/);
    await inspect("what-if");
    assert.deepEqual(admin.gtm.state.orders.regions, []);
  });
  it("is asked of some traffic, too, and comes back with its address", async () => {
    const { page, open, seen } = browser;
    await open("explain");
    await open("what-if?kind=deny&region=frank*&tenant=nobody");
    await page.getByRole("button", { name: "Decide again" }).click();
    await seen("0 of 7 turns would go elsewhere");
    await seen("gtm what-if --deny 'frank*' --tenant nobody");
  });
});

describe("an order that a safety rule forbids", () => {
  const button = () => browser.page.getByRole("button", { name: /^Down: serve nothing, passing / });
  it("says which rule, what was found and what the limit is, and is not given by the region's name alone", async () => {
    const { page, open, seen, inspect } = browser;
    await open("regions/frankfurt");
    await page.getByLabel("What").selectOption("down");
    await page.getByLabel("Why").fill("the building is on fire");
    await page.getByRole("button", { name: "Preview" }).click();
    await seen(/The safety rule minRegionsPerModel refuses it: .* Found 0, the limit is 1/);
    await page.getByLabel("Type frankfurt to order it").fill("frankfurt");
    assert.equal(await button().isDisabled(), true);
    await inspect("break-glass");
  });
  it("is given once the rules are typed, and the audit says who passed which, and why", async () => {
    const { page, open, seen } = browser;
    const rules = (await button().textContent())?.replace(/^.*passing /, "") ?? "";
    await page.getByLabel(/to do it although that forbids it$/).fill(rules);
    await button().click();
    await seen("Ordered of frankfurt: Down: serve nothing.");
    await open("audit");
    await seen(new RegExp(`passing ${rules} .*the building is on fire`));
  });
});
