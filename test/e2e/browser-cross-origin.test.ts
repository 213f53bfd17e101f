/** A page in Chromium, of an origin that is neither the front door's nor the gateway's, talks to both: fetch as pages write it. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import type { Heard } from "#test/support/talking-engine.ts";
import { startTicketHouse, type TicketHouse } from "#test/support/ticket-house.ts";

const KEY = "Bearer key-of-a-page";
const PAGE_HOST = "page.test";
const CHAT = { model: SIMULATED_MODEL, messages: [{ role: "user", content: "Hello" }] };

type Asked = {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};
/** What the page is shown of an answer. */
type Seen = {
  readonly status: number;
  readonly isRedirected: boolean;
  readonly url: string;
  readonly text: string;
  readonly region: string | null;
  readonly pin: string | null;
};

let house: TicketHouse;
let browser: Browser;
let page: Page;
/** What the engine behind the gateway heard in this test. */
let heardBefore = 0;
const heard = (): readonly Heard[] => house.engine.heard.slice(heardBefore);

before(async () => {
  house = await startTicketHouse((_, outgoing) => {
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end('{"choices":[{"message":{"role":"assistant","content":"Good day"}}]}');
  });
  const site = createServer((_, outgoing) =>
    outgoing.setHeader("content-type", "text/html").end("<title>Page</title>"),
  );
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  after(() => site.close());
  const { port } = site.address() as AddressInfo;
  // Names of conversations lead to the gateway's port, as the zone's DNS and port 80 would.
  const rules = [`MAP *.c.llm.test:80 127.0.0.1:${house.gateway.port}`, `MAP ${PAGE_HOST}:80 127.0.0.1:${port}`];
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", `--host-resolver-rules=${rules.join(",")}`],
  });
  page = await browser.newPage();
  await page.goto(`http://${PAGE_HOST}/`);
});
after(async () => {
  await browser.close();
  await house[Symbol.asyncDispose]();
});
beforeEach(() => {
  heardBefore = house.engine.heard.length;
});

/** In the page, by the browser's own fetch with its rules of CORS. */
const ask = (url: string, { method = "POST", headers = {}, body = null }: Partial<Omit<Asked, "url">>): Promise<Seen> =>
  page.evaluate(
    async (asked: Asked) => {
      const answer = await fetch(asked.url, { method: asked.method, headers: asked.headers, body: asked.body });
      const { status, redirected, headers } = answer;
      const named = (name: string): string | null => headers.get(name);
      const seen = {
        region: named("x-gtm-region"),
        pin: named("x-gtm-pin"),
        url: answer.url,
        text: await answer.text(),
      };
      return { status, isRedirected: redirected, ...seen };
    },
    { url, method, headers, body },
  );

const JSON_TYPE = { "content-type": "application/json" };
const ofPage = {
  headers: { ...JSON_TYPE, authorization: KEY, "x-conversation-id": "page-1" },
  body: JSON.stringify(CHAT),
};

describe("a page that posts a chat to the front door", () => {
  it("follows the 307 to the gateway, which has its key by ticket, and sees region and pin", async () => {
    const seen = await ask(`${house.frontUrl}/v1/chat/completions`, ofPage);
    assert.deepEqual([seen.status, seen.isRedirected, seen.region], [200, true, "eu-central"]);
    assert.match(seen.text, /Good day/);
    assert.equal(new URL(seen.url).port, `${house.gateway.port}`);
    assert.match(seen.pin ?? "", /^p1[0-9a-v]{40}$/);
    const turns = heard().filter(({ method }) => method === "POST");
    assert.deepEqual(
      turns.map(({ url, headers }) => [url, headers.authorization]),
      [["/v1/chat/completions", KEY]],
    );
    assert.deepEqual(JSON.parse(turns[0]?.body ?? ""), CHAT);
  });
  it("was let ask by a preflight at either, of which the engine hears nothing", async () => {
    await ask(`${house.frontUrl}/v1/chat/completions`, ofPage);
    assert.deepEqual(
      heard().filter(({ method }) => method === "OPTIONS"),
      [],
    );
    // Without the key's header there is nothing to restore: the engine's 401 is the page's to read.
    const { authorization: _, ...headers } = ofPage.headers;
    const keyless = await ask(`${house.frontUrl}/v1/chat/completions`, { ...ofPage, headers });
    assert.deepEqual([keyless.status, JSON.parse(keyless.text).error.code], [401, "no_key"]);
  });
});

describe("a page that asks /v1/steer", () => {
  for (const method of ["GET", "POST"] as const) {
    it(`with ${method} may read where its turns go, and goes there itself with its key`, async () => {
      const wish = { model: SIMULATED_MODEL, conversation: `page-${method}` };
      const headers = { authorization: KEY };
      const steered =
        method === "GET"
          ? await ask(`${house.frontUrl}/v1/steer?${new URLSearchParams(wish)}`, { method, headers })
          : await ask(`${house.frontUrl}/v1/steer`, {
              ...{ method, headers: { ...headers, ...JSON_TYPE } },
              body: JSON.stringify(wish),
            });
      assert.deepEqual([steered.status, steered.isRedirected], [200, false]);
      const { base_url, label, region } = JSON.parse(steered.text);
      assert.equal(region, "eu-central");
      const there = await ask(`${base_url}/chat/completions`, {
        ...ofPage,
        headers: { ...JSON_TYPE, authorization: KEY, "x-gtm-pin": label },
      });
      assert.deepEqual([there.status, there.isRedirected, there.pin], [200, false, label]);
      assert.equal(heard().at(-1)?.headers.authorization, KEY);
    });
  }
  it("may come back by its conversation's own name, with its key, and is not redirected", async () => {
    const wish = JSON.stringify({ model: SIMULATED_MODEL, conversation: "by name" });
    const steered = await ask(`${house.frontUrl}/v1/steer`, { headers: JSON_TYPE, body: wish });
    const { label, pinned_base_url } = JSON.parse(steered.text);
    assert.equal(new URL(pinned_base_url).hostname, `${label}.c.llm.test`);
    const { authorization } = ofPage.headers;
    const there = await ask(`http://${label}.c.llm.test/v1/chat/completions`, {
      headers: { ...JSON_TYPE, authorization },
      body: JSON.stringify(CHAT),
    });
    assert.deepEqual([there.status, there.isRedirected, there.pin], [200, false, label]);
    assert.equal(heard().at(-1)?.headers.authorization, KEY);
  });
});
