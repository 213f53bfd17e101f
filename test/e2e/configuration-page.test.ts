/**
 * The configuration's screen in Chromium, on `gtm serve`: what stands, a file that becomes faulty and is told of with its lines,
 * a key that waits for a restart. No error on the console, nothing that axe finds, in light, dark and narrow.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { houseYaml } from "#test/support/house.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";

const SETTINGS = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));

let gtm: RunningProgram;
let browser: AdminBrowser;

before(async () => {
  gtm = await startProgram("gtm/main.ts", "serve", SETTINGS);
  browser = await openAdminBrowser(gtm.url("admin"));
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gtm?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

describe("the configuration's screen", () => {
  it("shows what stands, section by section, and each section whole", async () => {
    await browser.open("configuration");
    await browser.seen("config.yaml is in force.");
    await browser.answered();
    await browser.inspect("configuration");
    await browser.page.getByRole("link", { name: "pools" }).click();
    await browser.seen(/"name": "chat"/);
    assert.deepEqual(await browser.violations(), []);
  });

  it("tells what waits for a restart, and by and by of a faulty file with its lines", async () => {
    await browser.open("configuration");
    writeFileSync(gtm.config, JSON.stringify({ ...SETTINGS, store: { url: "memory:", deadline: "700ms" } }));
    await browser.seen("700ms");
    writeFileSync(gtm.config, "version: 1\nregoins: []\n");
    await browser.seen(/config.yaml cannot be used since/);
    await browser.seen("unknown key");
    await browser.inspect("configuration-refused");
  });
});
