/**
 * The page as a person on call uses it, in Chromium, on a whole GTM with engines and agents: a region falls silent, its conversations
 * are found, it is drained and taken back, a decision is asked why. No error on the console, nothing that the CSP stopped, nothing
 * that axe finds.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";

let house: House;
let browser: AdminBrowser;
let page: AdminBrowser["page"];
let conversation = "";
let decision = "";

before(async () => {
  house = await startHouse({ policy: { stale_after: "3s" } });
  for (let turn = 1; turn <= 3; turn++) await house.ask({ conversation: "incident", tokens: 3_000 + turn * 100 });
  const { headers } = await house.ask({ conversation: "incident", tokens: 3_500 });
  decision = String(headers["x-gtm-decision"]);
  conversation = (await house.decision(decision)).conversation?.id ?? "";
  browser = await openAdminBrowser(new URL(house.adminUrl).origin);
  page = browser.page;
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

const open = (hash: string): Promise<void> => browser.open(hash);
const seen = (text: string | RegExp): Promise<void> => browser.seen(text);
const picture = (name: string): Promise<void> => browser.picture(name);

describe("the page of a GTM at peace", () => {
  it("says so on the overview, with every region and what happened lately", async () => {
    await open("");
    await seen("Nothing is wrong: 2 regions in service, the store answers.");
    for (const region of ["eu-central", "us-east"]) await page.getByRole("link", { name: region }).first().waitFor();
    await seen("Where clients are sent, most asked first");
    await picture("overview");
  });

  const screens = [
    "",
    "regions/eu-central",
    "placements",
    "conversations",
    "decisions",
    "explain",
    "overrides",
    "audit",
    "instances",
  ];
  it("has nothing on any screen that axe finds, light and dark, and nothing wider than a narrow one", async () => {
    for (const screen of screens) {
      await open(screen);
      await browser.answered();
      await browser.inspect(screen === "" ? "peace" : screen.replace("/", "-"));
    }
  });
});

describe("why did this turn go there", () => {
  it("is answered by its decision: a sentence, bars for every region, what would have turned it", async () => {
    await open(`decision/${decision}`);
    await seen(/Stays in eu-central, which holds/);
    await seen(/It would have gone otherwise if/);
    await page.getByRole("img", { name: /^us-east: .*context computed again/ }).waitFor();
    assert.deepEqual(await browser.violations(), []);
    await picture("decision");
  });
  it("is answered beforehand, and leaves no trace", async () => {
    await open("explain");
    await page.getByLabel("Client's address").fill("198.51.100.7");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await seen(/us-east/);
    await page.getByText(/^gtm explain --pool/).waitFor();
    assert.match(page.url(), /client=198\.51\.100\.7/);
  });
  it("is followed live", async () => {
    await open("decisions");
    await seen("live");
    const { headers } = await house.ask({ conversation: "live one", tokens: 900 });
    await page.locator(`a[href="#/decision/${String(headers["x-gtm-decision"])}"]`).waitFor();
  });
});

describe("a region whose agent falls silent", () => {
  it("is named on the overview with why and since when, and leads to the region", async () => {
    await house.stopAgent("eu-central");
    await open("");
    const finding = page.getByRole("link", {
      name: /^eu-central, for .*: In service, though degraded: last reported \d/,
    });
    await finding.waitFor();
    await picture("degraded");
    await finding.click();
    await page.getByRole("heading", { name: "Region eu-central" }).waitFor();
  });
  it("shows who is held there", async () => {
    await page.getByRole("link", { name: "Conversations at home here" }).click();
    await page.getByRole("link", { name: conversation }).click();
    await seen(/is at home in/);
  });
  it("is drained after a preview and a typed name, and not before", async () => {
    await open("regions/eu-central");
    await page.getByLabel("What").selectOption("drain-all");
    await page.getByLabel("Why").fill('agent <img src=x onerror="alert(1)"> gone');
    await page.getByRole("button", { name: "Preview" }).click();
    await seen("active → drain-all");
    await seen("Where their next turns go");
    assert.deepEqual(await browser.violations(), []);
    await picture("preview");
    const button = page.getByRole("button", { name: "Drain: let all conversations leave" });
    assert.equal(await button.isDisabled(), true);
    await page.getByLabel(/^Type eu-central/).fill("eu-central");
    await button.click();
    await seen("Ordered of eu-central: Drain: let all conversations leave.");
    await seen(/drain-all ordered by loopback/);
    // The order shows at once; decisions hear of it a moment later.
    await until(async () => (await house.region("eu-central")).admin === "drain-all", "the world to hear of the order");
    const { headers } = await house.ask({ conversation: "incident", tokens: 3_600 });
    const { explanation } = await house.decision(String(headers["x-gtm-decision"]));
    assert.equal(headers["x-gtm-region"], "us-east", explanation);
  });
  it("keeps what somebody wrote as text, whatever it looks like", async () => {
    assert.equal(await page.locator("main img").count(), 0);
    await open("audit");
    await seen(/onerror/);
    assert.equal(await page.locator("main img").count(), 0);
    await picture("audit");
  });
  it("is taken back, and then nothing is wrong once it reports again", async () => {
    await house.startAgent("eu-central");
    await open("regions/eu-central");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel(/^Type eu-central/).fill("eu-central");
    await page.getByRole("button", { name: "Take the drain back" }).click();
    await seen("Ordered of eu-central: Take the drain back.");
    await open("");
    await seen("Nothing is wrong: 2 regions in service, the store answers.");
    await seen(/admin: drain-all → active/);
  });
});

describe("an override", () => {
  it("is given after a preview, listed, and cancelled after being asked twice", async () => {
    await open("overrides");
    await seen("Nothing is ordered about any traffic.");
    await page.getByLabel("region").fill("us-*");
    await page.getByLabel("tenant").fill("acme");
    await page.getByLabel("Why").fill("contract");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel(/^Type us-\*/).fill("us-*");
    await page.getByRole("button", { name: "Order" }).click();
    await page.getByRole("cell", { name: "contract" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Really cancel" }).click();
    await seen("Nothing is ordered about any traffic.");
  });
});

describe("the keyboard", () => {
  it("reaches the content without the names of the screens, and every link shows where it is", async () => {
    await open("");
    // From the top of the page, as it is when it is opened.
    await page.reload();
    await page.locator("h2").first().waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "To the content");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
    assert.equal(outline, "solid");
  });
});
