/** The admin page in Chromium, as the tests of its screens walk it: what the browser complains of, what axe finds, pictures on demand. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { until } from "./until.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2 AA and what axe recommends beside it. */
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** All that differs between light and dark. */
const COLOURS = { type: "rule", values: ["color-contrast"] };
/** Where pictures of the screens are kept; nowhere unless asked for. */
const PICTURES = process.env["PICTURES"];

export type AdminBrowser = AsyncDisposable & {
  readonly page: Page;
  /** @param hash such as `regions/eu-central` */
  readonly open: (hash: string) => Promise<void>;
  readonly seen: (text: string | RegExp) => Promise<void>;
  /** Nothing on the screen still waits for its answer. */
  readonly answered: () => Promise<void>;
  readonly picture: (name: string) => Promise<void>;
  /** Of WCAG, as axe finds them. */
  readonly violations: (wanted?: object) => Promise<readonly string[]>;
  /** What the browser said since this was asked last. */
  readonly complaints: () => readonly string[];
  /** Light, dark, and 360 wide: nothing that axe finds, nothing wider than the screen; with pictures. */
  readonly inspect: (name: string) => Promise<void>;
};

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** @param origin of the admin listener */
export const openAdminBrowser = async (origin: string): Promise<AdminBrowser> => {
  const browser: Browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  // The first to open the page waits until it is made.
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  };
  const violations = async (wanted: object = RULES): Promise<readonly string[]> => {
    await page.evaluate(AXE);
    const found = await page.evaluate<readonly Violation[], object>(
      // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
      async (runOnly) => (await (globalThis as any).axe.run({ runOnly })).violations,
      wanted,
    );
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
  };
  return {
    page,
    picture,
    violations,
    open: async (hash) => {
      await page.goto(`${origin}/#/${hash}`);
      await page.locator("h2").first().waitFor();
    },
    seen: (text) => page.getByText(text).first().waitFor(),
    answered: () => until(async () => (await page.locator("[aria-busy]").count()) === 0, "every answer"),
    complaints: () => complaints.splice(0),
    inspect: async (name) => {
      for (const [scheme, rules] of [
        ["dark", COLOURS],
        ["light", RULES],
      ] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        assert.deepEqual(await violations(rules), [], `${name}, ${scheme}`);
        await picture(`${name}-${scheme}`);
      }
      const before = page.viewportSize();
      await page.setViewportSize({ width: 360, height: 740 });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${name} is ${width} wide`);
      await picture(`${name}-narrow`);
      if (before !== null) await page.setViewportSize(before);
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
};
