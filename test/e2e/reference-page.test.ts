/** The API reference in Chromium: every operation is there, one is shown whole, axe finds nothing, and a narrow screen holds it. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Where pictures of the screens are kept; nowhere unless asked for. */
const PICTURES = process.env["PICTURES"];

let admin: RunningAdmin;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

before(async () => {
  admin = await runningAdmin();
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
});
after(async () => {
  await browser?.close();
  await admin?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(complaints.splice(0), []));

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

describe("the API reference", () => {
  it("is at /reference, and lists every operation of the description by its tag", async () => {
    await page.goto(`${admin.url}/reference`);
    await page.getByRole("heading", { name: "API reference" }).waitFor();
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    const { body } = await admin.ask("GET", "/openapi.json");
    const operations = Object.values<object>(body.paths).flatMap((methods) => Object.keys(methods));
    assert.equal(await page.locator("main td a").count(), operations.length);
    await page.getByText("gtm decisions list --verdict migrated").waitFor();
    assert.deepEqual(await violations(), []);
    await picture("reference");
  });
  it("shows one with its parameters, body, answer, problems, and the lines that call it", async () => {
    await page.getByRole("link", { name: "POST /api/v1/regions/{id}/drain" }).click();
    await page.getByText(/^gtm drain eu-central --mode drain-new/).waitFor();
    await page
      .getByText(/^curl -H "authorization: Bearer \$GTM_TOKEN" -X POST .*\/regions\/eu-central\/drain/)
      .waitFor();
    await page.getByRole("row", { name: /dry_run query/ }).waitFor();
    await page.getByText("Example of the answer: With dry_run=true").click();
    await page.getByText('"lingerSeconds": 20').waitFor();
    await page.getByRole("row", { name: /412 It changed since it was read/ }).waitFor();
    assert.match(page.url(), /#\/reference\/postRegionsByIdDrain$/);
    assert.deepEqual(await violations(), []);
    await picture("operation");
  });
  it("in the dark, with what lies deeper opened, has nothing that axe finds", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`${admin.url}/#/reference/getDecisionsById`);
    await page.getByText("list of Considered").click();
    await page.getByText("Fields of considered").waitFor();
    assert.deepEqual(await violations(), []);
    await picture("operation-dark");
    await page.emulateMedia({ colorScheme: "light" });
  });
  it("is no wider than a narrow screen", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const subject of ["", "/getDecisionsById", "/postExplain"]) {
      await page.goto(`${admin.url}/#/reference${subject}`);
      await page.locator("main code").first().waitFor();
      if (subject !== "") await page.getByText("Example of the answer").click();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${subject} is ${width} wide`);
    }
    await picture("operation-narrow");
  });
  it("of an operation that there is not says so", async () => {
    await page.goto(`${admin.url}/#/reference/getNothing`);
    await page.getByText("There is no operation called getNothing.").waitFor();
  });
  it("is linked from every screen", async () => {
    await page.goto(`${admin.url}/#/audit`);
    await page.getByRole("link", { name: "admin API" }).click();
    await page.getByRole("heading", { name: "API reference" }).waitFor();
  });
});
