/**
 * The screens of agents, models and zones, and a region's history, in Chromium on a whole GTM with engines and agents: one agent falls
 * silent, another's report is not believed, and each is named with what mends it. No error on the console, nothing that axe finds.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportKey } from "#shared/keys.ts";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Where pictures of the screens are kept; nowhere unless asked for. */
const PICTURES = process.env["PICTURES"];
const SCREENS = [
  "agents",
  "models",
  `models/${encodeURIComponent(SIMULATED_MODEL)}`,
  "zones",
  "regions/eu-central",
  "placements",
];

let house: House;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

before(async () => {
  house = await startHouse({ policy: { stale_after: "3s" } });
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
  await until(async () => (await page.locator("[aria-busy]").count()) === 0, "every answer");
};
const seen = (text: string | RegExp) => page.getByText(text).first().waitFor();
const picture = async (name: string): Promise<void> => {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name.replaceAll("/", "-")}.png`), fullPage: true });
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
  for (const scheme of ["light", "dark"] as const) {
    it(`have nothing that axe finds, ${scheme}`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      // Colours are the same everywhere: in the dark those that have most of them.
      for (const screen of scheme === "light" ? SCREENS : ["agents", "zones"]) {
        await open(screen);
        assert.deepEqual(await violations(), [], screen);
        await picture(`${screen}-${scheme}`);
      }
      await page.emulateMedia({ colorScheme: "light" });
    });
  }
  it("can be read on a narrow screen", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const screen of SCREENS) {
      await open(screen);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${screen} is ${width} wide`);
      await picture(`${screen}-narrow`);
    }
    await page.setViewportSize({ width: 1300, height: 900 });
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
    assert.deepEqual(await violations(), []);
    await picture("agents-unwell");
  });
  it("leave their mark in the region's history, from the first moment of the silence", async () => {
    await open("regions/us-east");
    await seen(/No report since /);
    await seen(/Health healthy → degraded/);
    await picture("region-history");
  });
});
