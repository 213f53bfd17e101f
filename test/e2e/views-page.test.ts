/**
 * The screens of agents, models and zones, and a region's history, in Chromium on a whole GTM with engines and agents: one agent falls
 * silent, another's report is not believed, and each is named with what mends it. No error on the console, nothing that axe finds.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportKey } from "#shared/keys.ts";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { type House, startHouse } from "#test/support/house.ts";

const SCREENS = [
  "agents",
  "models",
  `models/${encodeURIComponent(SIMULATED_MODEL)}`,
  "zones",
  "regions/eu-central",
  "placements",
];

let house: House;
let browser: AdminBrowser;
let page: AdminBrowser["page"];

before(async () => {
  house = await startHouse({ policy: { stale_after: "3s" } });
  browser = await openAdminBrowser(new URL(house.adminUrl).origin);
  page = browser.page;
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

const open = async (hash: string): Promise<void> => {
  await browser.open(hash);
  await browser.answered();
};
const seen = (text: string | RegExp): Promise<void> => browser.seen(text);
const picture = (name: string): Promise<void> => browser.picture(name.replaceAll("/", "-"));

describe("the screens of what the GTM hears and answers", () => {
  it("show agents with their engines, and what is not signed with the remedy", async () => {
    await open("agents");
    await page.getByRole("cell", { name: "agent-eu-central" }).first().waitFor();
    await seen(/agent-eu-central does not sign its reports/);
    await seen(/gtm keys init. makes a key for eu-central/);
    await page.getByRole("cell", { name: "vllm" }).first().waitFor();
  });
  it("show models, and of one where it is and how fast", async () => {
    await open("models");
    await seen("Loaded in eu-central, us-east.");
    await page.getByRole("link", { name: SIMULATED_MODEL }).first().click();
    await seen(/A new conversation of chat goes/);
    await page
      .getByRole("cell", { name: /^8.000 configured/ })
      .first()
      .waitFor();
  });
  it("show the names of the zone by kind, and the lines to paste", async () => {
    await open("zones");
    await seen(/^llm\.test\. 3600 IN NS ns1\.llm\.test\.$/m);
    await page.getByRole("link", { name: /^pool / }).click();
    await page.getByRole("cell", { name: "chat.llm.test" }).waitFor();
    await seen(/from eu-central:/);
    assert.match(page.url(), /#\/zones\?kind=pool$/);
  });
  it("check the delegation on request, and say what mends it", async () => {
    await open("zones");
    await seen("Nobody has checked it since this GTM started.");
    await page.getByRole("button", { name: "Check it now" }).click();
    // Fourteen seconds at most, where nobody answers.
    await page
      .getByText(/Last checked .* ago/)
      .first()
      .waitFor({ timeout: 30_000 });
    await page.getByRole("list", { name: "What the check found" }).getByText("problem").first().waitFor();
    await picture("zones-checked");
  });
  it("have nothing that axe finds, light and dark, and nothing wider than a narrow screen", async () => {
    for (const screen of SCREENS) {
      await open(screen);
      await browser.inspect(screen.replaceAll("/", "-"));
    }
  });
});

describe("agents that are not well", () => {
  it("are named with since when and what mends it: one silent, one not believed", async () => {
    await house.stopAgent("us-east");
    const region = RegionId.parse("eu-central");
    const liar = AgentId.parse("liar");
    await house.store.put(reportKey(region, liar), "{", KEYS.report.ttlMs);
    await house.store.indexAdd(agentsKey(region), liar, Date.now());
    await open("agents");
    await seen(/us-east\/agent-us-east was last heard .* ago/);
    await seen(/eu-central\/liar is not believed \(not-json\)/);
    await seen(/× not-json/);
    assert.deepEqual(await browser.violations(), []);
    await picture("agents-unwell");
  });
  it("leave their mark in the region's history, from the first moment of the silence", async () => {
    await open("regions/us-east");
    await seen(/No report since /);
    await seen(/Health healthy → degraded/);
    await picture("region-history");
  });
});
