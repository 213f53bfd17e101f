/**
 * Conversations and live decisions at size, in Chromium, on a whole GTM: thousands of rows of which few are in the document, one
 * of them moved elsewhere after a preview, and a stream of decisions that is paused, hidden, cut off and flooded.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { request } from "undici";
import { systemClock } from "#shared/clock.ts";
import { listConversation } from "#shared/conversation-index.ts";
import { ownerOf, packed } from "#shared/conversation-record.ts";
import { ConversationId, ModelId, PoolName } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import { type AdminBrowser, openAdminBrowser } from "#test/support/admin-browser.ts";
import { regionId } from "#test/support/builders.ts";
import { type CutOff, relayTo } from "#test/support/cut-off.ts";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";

const MANY = 1_500;
let house: House;
let relay: CutOff;
let browser: AdminBrowser;
let conversation = "";

/** As the GTM writes them; ids that no hash makes, so that none is met twice. */
const fill = async (): Promise<void> => {
  const owner = ownerOf("acme", PoolName.parse("chat"));
  for (let at = 0; at < MANY; at++) {
    const id = ConversationId.parse(at.toString(32).padStart(13, "0"));
    const region = regionId(at % 3 === 0 ? "us-east" : "eu-central");
    const [tokens, atMs] = [500 + at * 10, systemClock.monotonicMs() - 60_000 - at * 100];
    const about = { id, model: ModelId.parse(SIMULATED_MODEL), turns: 1 + (at % 9), lastTurnAtMs: atMs, rev: 1 };
    const one = { ...about, holdings: [{ region, replica: null, tokens, atMs }] as const, refusedBy: [] };
    await house.store.put(
      conversationKey(id),
      packed(one, owner, 1, systemClock.monotonicMs()),
      KEYS.conversation.ttlMs,
    );
    const lastTurnEpochMs = systemClock.epochMs() - 60_000 - at * 100;
    await listConversation(house.store, { id, region, lastTurnEpochMs, contextTokens: tokens });
    if (at % 250 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
};

before(async () => {
  // A machine that is busy with Chromium answers probes late.
  house = await startHouse({ regions: { probe: null } });
  for (let turn = 1; turn <= 3; turn++) await house.ask({ conversation: "moved one", tokens: 3_000 + turn * 100 });
  const { headers } = await house.ask({ conversation: "moved one", tokens: 3_500 });
  conversation = (await house.decision(String(headers["x-gtm-decision"]))).conversation?.id ?? "";
  await fill();
  relay = await relayTo(Number(new URL(house.adminUrl).port));
  browser = await openAdminBrowser(`http://127.0.0.1:${relay.port}`);
});
after(async () => {
  await browser?.[Symbol.asyncDispose]();
  await relay?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
});
afterEach(() => assert.deepEqual(browser.complaints(), []));

const rows = () => browser.page.locator(".window tbody tr:not(.gap)");
const firstId = async (): Promise<string> => (await rows().first().locator("a").textContent()) ?? "";

describe("the list of conversations", () => {
  it("finds and sorts by what stands in the address, and tells the same as a command", async () => {
    const { open, page, seen, answered } = browser;
    await open("conversations");
    await answered();
    assert.equal(await firstId(), conversation);
    await page.getByLabel("At least tokens").fill("15000");
    await page.getByLabel("Order").selectOption("tokens");
    await page.getByRole("button", { name: "Find" }).click();
    await until(async () => page.url().endsWith("?min_tokens=15000&sort=tokens"), "the address");
    await seen(/^50 conversations/);
    assert.equal(await firstId(), (MANY - 1).toString(32).padStart(13, "0"));
    await seen("gtm conversations list --min-tokens 15000 --sort tokens");
    await page.reload();
    await seen(/^50 conversations/);
    assert.equal(await page.getByLabel("At least tokens").inputValue(), "15000");
  });
  it("says how far it looked where nothing passed, and looks further when told", async () => {
    const { open, page, seen } = browser;
    await open("conversations?tenant=nobody");
    await seen("None among 500 that were looked at.");
    await page.getByRole("button", { name: "Look further" }).click();
    await seen(/None among 1.000 that were looked at\./);
  });
  it("says what it was asked wrongly", async () => {
    await browser.open("conversations?idle=5");
    await browser.seen(/idle: /);
    assert.match(browser.complaints().join(), /400/);
  });
  it("scrolls through 1 500 with less than a hundred of them in the document", async () => {
    const { open, page, answered } = browser;
    await open("conversations");
    await answered();
    const scrolled = page.locator(".window");
    await until(async () => {
      assert.ok((await rows().count()) < 100, "few rows are in the document");
      await scrolled.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      return (await page.getByText(/^1.501 conversations$/).count()) === 1;
    }, "all of them");
    await scrolled.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await until(async () => (await rows().last().getAttribute("aria-rowindex")) === "1502", "the last row");
    await browser.inspect("conversations");
  });
});

describe("one conversation", () => {
  it("is moved after a preview and a typed name, and its next turn goes there", async () => {
    const { open, page, seen } = browser;
    await open(`conversations/${conversation}`);
    await seen(/is at home in/);
    await page.getByRole("combobox", { name: "To" }).selectOption("us-east");
    await page.getByLabel("Why").fill("its client moved");
    await page.getByRole("button", { name: "Preview" }).click();
    await seen(/The turn after that would (?:stay|leave again)\./);
    await browser.inspect("conversation");
    const button = page.getByRole("button", { name: "Move it to us-east" });
    assert.equal(await button.isDisabled(), true);
    await page.locator(".plan").getByLabel(/^Type/).fill(conversation);
    await button.click();
    await seen(/^Somebody ordered it to us-east/);
    const { headers } = await house.ask({ conversation: "moved one", tokens: 3_600 });
    assert.equal(headers["x-gtm-region"], "us-east");
    const decision = await house.decision(String(headers["x-gtm-decision"]));
    assert.match(decision.explanation, /^Goes to us-east, where somebody ordered it moved\./);
  });
  it("is released after its name was typed", async () => {
    const { open, page, seen } = browser;
    // Nobody may write it between what is shown and the order.
    const key = conversationKey(ConversationId.parse(conversation));
    await until(async () => JSON.parse((await house.store.get(key))?.value ?? '{"o":1}').o === undefined, "its turn");
    await open(`conversations/${conversation}`);
    await page.reload();
    await seen(/is at home in/);
    await page.getByLabel(/^Type/).fill(conversation);
    await page.getByRole("button", { name: "Release it" }).click();
    await seen(/^250 conversations, more as you scroll/);
    const { statusCode } = await request(`${house.adminUrl}/conversations/${conversation}`);
    assert.equal(statusCode, 404);
  });
});

const ask = async (count: number, name: string): Promise<void> => {
  for (let at = 0; at < count; at += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - at) }, (_, nth) =>
        house.ask({ conversation: `${name} ${at + nth}`, tokens: 20 }),
      ),
    );
  }
};
const readers = async (): Promise<number> => {
  const text = await (await request(`${house.metricsUrl}/metrics`)).body.text();
  return Number(/^gtm_admin_event_readers (\d+)/m.exec(text)?.[1]);
};
const hide = (isHidden: boolean): Promise<void> =>
  browser.page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

describe("decisions as they are made", () => {
  it("wait while somebody reads, and are counted", async () => {
    const { open, page, seen } = browser;
    await open("decisions");
    await seen("live");
    await page.getByRole("button", { name: "Pause" }).click();
    await ask(3, "paused");
    await seen("Not shown: 3 came while you had paused.");
    await browser.inspect("decisions");
    await page.getByRole("button", { name: "Go on" }).click();
    await ask(1, "going on");
    await seen("live");
  });
  it("are not asked for while the page is hidden, and go on where they were", async () => {
    const { page, seen } = browser;
    await until(async () => (await readers()) === 1, "one reader");
    await hide(true);
    await until(async () => (await readers()) === 0, "no reader");
    const { headers } = await house.ask({ conversation: "while hidden", tokens: 20 });
    await hide(false);
    await page.locator(`a[href="#/decision/${String(headers["x-gtm-decision"])}"]`).waitFor();
    assert.equal(await page.getByText("no longer kept").count(), 0);
    await seen("live");
  });
  it("go on after the GTM was away, and say so where it is more than it keeps", async () => {
    const { page, seen } = browser;
    await relay.cut();
    const { headers } = await house.ask({ conversation: "while away", tokens: 20 });
    await seen("connecting");
    await relay.mend();
    await page.locator(`a[href="#/decision/${String(headers["x-gtm-decision"])}"]`).waitFor();
    await relay.cut();
    await ask(1_100, "flood");
    await seen("connecting");
    await relay.mend();
    await seen(/Not shown:.* some came while this GTM was away or the page was hidden, and are no longer kept/);
    // That nobody answered stands on the console: it was so.
    for (const complaint of browser.complaints()) assert.match(complaint, /ERR_|Failed to load resource/);
  });
  it("are looked through for close ones by the GTM", async () => {
    await browser.open("decisions?close=yes");
    await browser.seen("live");
    await until(async () => (await readers()) === 1, "one reader");
    await browser.seen("all");
  });
});
