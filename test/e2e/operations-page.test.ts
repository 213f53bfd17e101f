/**
 * A drain by and by on the page, in Chromium: what it would do first, then how far it is, then taken back with a typed name.
 * No error on the console, nothing that the CSP stopped, nothing that axe finds.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { ConversationId } from "#shared/ids.ts";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { aConversation, aRegion } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const conversation = (at: number, contextTokens: number) => ({
  ...aConversation({ home: "frankfurt", contextTokens }),
  id: ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`),
});

let admin: RunningAdmin;
let browser: AdminBrowser;

before(async () => {
  admin = await runningAdmin({
    regions: [aRegion("frankfurt", { placement: { requestsRunning: 0 } }), aRegion("paris")],
    conversations: [2_000, 8_000, 16_000, 30_000].map((tokens, at) => conversation(at, tokens)),
  });
  browser = await openAdminBrowser(admin.url);
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await admin?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

const operation = () => admin.gtm.state.orders.operations?.at(-1);

describe("a drain over ten minutes", () => {
  it("is planned with what it does to users and to the regions that they go to", async () => {
    const { page, open, seen, inspect } = browser;
    await open("regions/frankfurt");
    await page.getByLabel("What").selectOption("drain-all");
    await page.getByLabel("Why").fill("driver <b>update</b>");
    await page.getByRole("textbox", { name: "Over" }).fill("10m");
    await page.getByRole("button", { name: "Preview" }).click();
    await seen(/By and by \(spare\), the cheapest first/);
    await seen("When they are free to leave");
    await seen(/4 go elsewhere with 56.000 tokens/);
    await seen("What is left where they go");
    await inspect("drain-plan");
    assert.equal(admin.gtm.state.orders.operations, undefined);
  });
  it("is begun by its plan, and leads from the region to how far it is", async () => {
    const { page, seen } = browser;
    await page.getByLabel(/^Type frankfurt/).fill("frankfurt");
    await page.getByRole("button", { name: "Drain: let all conversations leave" }).click();
    await seen("Ordered of frankfurt: Drain: let all conversations leave.");
    await page.getByRole("link", { name: "How far it is" }).click();
    await seen("0 of 4 gone");
    assert.equal(operation()?.deadlineAtMs, (operation()?.startedAtMs ?? 0) + 600_000);
  });
  it("shows how many have gone, and when it may be done", async () => {
    const { page, seen, answered, inspect } = browser;
    admin.gtm.clock.pass(4_000);
    admin.gtm.state.conversations = admin.gtm.state.conversations.slice(1);
    await seen("1 of 4 gone");
    assert.equal(await page.locator("progress").getAttribute("value"), "1");
    await seen(/Done in .* moved so far: 1/);
    await inspect("operation");
    await page.getByRole("link", { name: "All operations" }).click();
    await answered();
    await seen("Drains, the newest first");
    await inspect("operations");
  });
  it("is taken back after its region's name was typed, and not before", async () => {
    const { page, seen } = browser;
    await page.getByRole("link", { name: "frankfurt", exact: true }).click();
    const button = page.getByRole("button", { name: "Cancel the drain" });
    await button.waitFor();
    assert.equal(await button.isDisabled(), true);
    await page.getByLabel(/^Type frankfurt/).fill("frankfurt");
    await button.click();
    await seen(/Taken back by loopback\./);
    assert.equal(await button.count(), 0);
    assert.equal(operation()?.end?.how, "cancelled");
  });
  it("is refused to whoever was too late, in words", async () => {
    const { page, open, seen } = browser;
    await admin.ask("POST", "/regions/frankfurt/drain", { body: { mode: "drain-all", comment: "again", over: "5m" } });
    await open("operations");
    await page.getByRole("link", { name: "frankfurt", exact: true }).first().click();
    await page.getByLabel(/^Type frankfurt/).fill("frankfurt");
    await admin.gtm.ports.orders.undo(aRegion("frankfurt").id, "bob");
    await page.getByRole("button", { name: "Cancel the drain" }).click();
    await seen(/Taken back by bob\.|has ended \(cancelled\)/);
    // What the API refuses the browser tells, too.
    browser.complaints();
  });
});
