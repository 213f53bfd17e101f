/**
 * The page as a person on call uses it, in Chromium, on a whole GTM with engines and agents: a region falls silent, its conversations
 * are found, it is drained and taken back, a decision is asked why. No error on the console, nothing that the CSP stopped, nothing
 * that axe finds.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2 AA and what axe recommends beside it. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Where pictures of the screens are kept; nowhere unless asked for. */
const PICTURES = process.env["PICTURES"];

let house: House;
let browser: Browser;
let page: Page;
let conversation = "";
let decision = "";
/** What the browser complained of. */
const complaints: string[] = [];

before(async () => {
  house = await startHouse({ policy: { stale_after: "3s" } });
  for (let turn = 1; turn <= 3; turn++) await house.ask({ conversation: "incident", tokens: 3_000 + turn * 100 });
  const { headers } = await house.ask({ conversation: "incident", tokens: 3_500 });
  decision = String(headers["x-gtm-decision"]);
  conversation = (await house.decision(decision)).conversation?.id ?? "";
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  page.setDefaultTimeout(15_000);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
});
after(async () => {
  await browser?.close();
  await house?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(complaints.splice(0), []));

const open = async (hash: string): Promise<void> => {
  await page.goto(`${new URL(house.adminUrl).origin}/#/${hash}`);
  await page.locator("h2").first().waitFor();
};
const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();
/** Nothing on the screen still waits for its answer; several things may. */
const answered = () => until(async () => (await page.locator("[aria-busy]").count()) === 0, "every answer");
const picture = async (name: string): Promise<void> => {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
};
type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };
const violations = async (): Promise<readonly string[]> => {
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly Violation[], readonly string[]>(
    // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
    async (tags) => (await (globalThis as any).axe.run({ runOnly: { type: "tag", values: tags } })).violations,
    RULES,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
};

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
  for (const scheme of ["light", "dark"] as const) {
    it(`has nothing on any screen that axe finds, ${scheme}`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      for (const screen of screens) {
        await open(screen);
        await answered();
        assert.deepEqual(await violations(), [], screen);
      }
      await page.emulateMedia({ colorScheme: "light" });
    });
  }
  it("can be read on a narrow screen: nothing is wider than it, but for tables that scroll by themselves", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const screen of screens) {
      await open(screen);
      await answered();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${screen} is ${width} wide`);
    }
    await picture("narrow");
    await page.setViewportSize({ width: 1300, height: 900 });
  });
});

describe("why did this turn go there", () => {
  it("is answered by its decision: a sentence, bars for every region, what would have turned it", async () => {
    await open(`decision/${decision}`);
    await seen(/Stays in eu-central, which holds/);
    await seen(/It would have gone otherwise if/);
    await page.getByRole("img", { name: /^us-east: .*context computed again/ }).waitFor();
    assert.deepEqual(await violations(), []);
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
    const finding = page.getByRole("link", { name: /^eu-central: In service, though degraded\. \(for / });
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
    assert.deepEqual(await violations(), []);
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
