/** What real clients make of the redirect, and what becomes of their credentials on the way to another origin. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import OpenAI from "openai";
import { request, fetch as undiciFetch } from "undici";
import { aRegion, MODEL } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { type Arrived, startTinyEngine, type TinyEngine } from "#test/support/tiny-engine.ts";

const run = promisify(execFile);

type House = AsyncDisposable & { readonly front: RunningFrontDoor; readonly engine: TinyEngine };

const startHouse = async (needsKey = false): Promise<House> => {
  const engine = await startTinyEngine({ needsKey });
  const endpoint = { url: engine.origin, ipv4: [], ipv6: [] };
  const front = await startFrontDoor({ worldRegions: [aRegion("frankfurt", { endpoint })] });
  return {
    front,
    engine,
    [Symbol.asyncDispose]: async () => {
      await front.stop();
      await engine[Symbol.asyncDispose]();
    },
  };
};

const CHAT = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Zoë 🦙 ".repeat(5_000) }] });
const HEADERS = {
  "Content-Type": "application/json",
  Authorization: "Bearer sk-secret",
  "x-api-key": "sk-other",
  "X-Conversation-Id": "c1",
};
const TARGET = "/v1/chat/completions?a=%2F&b";

/** @returns the one request that the engine saw */
const arrivedAt = ({ engine, front }: House): Arrived => {
  assert.equal(front.entries.length, 1, "asked the front door once");
  assert.equal(engine.arrived.length, 1, "and the engine once");
  return engine.arrived[0] ?? assert.fail("nothing arrived");
};

const assertWhole = ({ method, url, headers, body }: Arrived): void => {
  assert.deepEqual([method, url], ["POST", TARGET]);
  assert.equal(body, CHAT);
  assert.equal(headers["x-conversation-id"], "c1");
};

/** A whole chat by curl, its body on standard input. @returns what curl prints */
const curl = async (house: House, ...options: readonly string[]): Promise<string> => {
  const headers = Object.entries(HEADERS).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const words = ["-sS", "--noproxy", "*", "--max-time", "20", ...options, ...headers, "--data-binary", "@-"];
  const running = run("curl", [...words, house.front.url + TARGET]);
  running.child.stdin?.end(CHAT);
  return (await running).stdout;
};

describe("curl", () => {
  it("without -L stops at a 307 whose body says what to do", async () => {
    await using house = await startHouse();
    const printed = await curl(house, "-w", "\n%{http_code} %{redirect_url}");
    const [body = "", told] = printed.split("\n");
    assert.equal(told, `307 ${house.engine.origin}${TARGET}`);
    assert.match(JSON.parse(body).error.message, /Region frankfurt serves this request/);
    assert.equal(house.engine.arrived.length, 0);
  });
  it("-L arrives with method and body, and without Authorization", async () => {
    await using house = await startHouse();
    const printed = await curl(house, "-L", "-w", "\n%{http_code} %{num_redirects}");
    assert.equal(printed.split("\n").at(-1), "200 1");
    const arrived = arrivedAt(house);
    assertWhole(arrived);
    assert.equal(arrived.headers.authorization, undefined);
    assert.equal(arrived.headers["x-api-key"], "sk-other", "other headers are kept");
  });
  it("--location-trusted arrives with Authorization", async () => {
    await using house = await startHouse();
    await curl(house, "--location-trusted");
    const arrived = arrivedAt(house);
    assertWhole(arrived);
    assert.equal(arrived.headers.authorization, HEADERS.Authorization);
  });
  it("-L with Expect: 100-continue uploads once, to the engine", async () => {
    await using house = await startHouse();
    const printed = await curl(
      house,
      "-L",
      "-H",
      "Expect: 100-continue",
      "-H",
      `X-GTM-Model: ${MODEL}`,
      "-w",
      "\n%{http_code}",
    );
    assert.equal(printed.split("\n").at(-1), "200");
    assertWhole(arrivedAt(house));
    assert.equal(house.front.entries[0]?.query.model, MODEL);
    assert.equal(await metricValue(house.front.metrics, "gtm_http_body_bytes_total"), 0);
  });
});

describe("fetch", () => {
  const fetches = { "Node's": fetch, "undici's": undiciFetch as unknown as typeof fetch };
  for (const [whose, fetchIt] of Object.entries(fetches)) {
    it(`follows with method and body, and drops Authorization between origins: ${whose}`, async () => {
      await using house = await startHouse();
      const answer = await fetchIt(house.front.url + TARGET, { method: "POST", headers: HEADERS, body: CHAT });
      assert.deepEqual([answer.status, answer.redirected, answer.url], [200, true, house.engine.origin + TARGET]);
      await answer.text();
      const arrived = arrivedAt(house);
      assertWhole(arrived);
      assert.equal(arrived.headers.authorization, undefined);
      assert.equal(arrived.headers["x-api-key"], "sk-other", "other headers are kept");
    });
    it(`cannot send a stream twice, and fails: ${whose}`, async () => {
      await using house = await startHouse();
      const body = new Blob([CHAT]).stream();
      const wish = { method: "POST", headers: HEADERS, body, duplex: "half" } as RequestInit;
      await assert.rejects(fetchIt(house.front.url + TARGET, wish), TypeError);
      assert.equal(house.engine.arrived.length, 0);
    });
    it(`may stop at the redirect and read where to: ${whose}`, async () => {
      await using house = await startHouse();
      const wish = { method: "POST", headers: HEADERS, body: CHAT, redirect: "manual" } as const;
      const answer = await fetchIt(house.front.url + TARGET, wish);
      await answer.text();
      assert.deepEqual([answer.status, answer.headers.get("location")], [307, house.engine.origin + TARGET]);
    });
  }
});

describe("undici's request, which follows no redirect", () => {
  it("is told where to go, and arrives with Authorization when it asks there", async () => {
    await using house = await startHouse();
    const asked = { method: "POST", headers: HEADERS, body: CHAT } as const;
    const told = await request(house.front.url + TARGET, asked);
    await told.body.dump();
    assert.equal(told.statusCode, 307);
    const answer = await request(String(told.headers["location"]), asked);
    await answer.body.dump();
    const arrived = arrivedAt(house);
    assertWhole(arrived);
    assert.equal(arrived.headers.authorization, HEADERS.Authorization);
  });
});

describe("the OpenAI SDK", () => {
  const clientOf = (baseURL: string) => new OpenAI({ baseURL, apiKey: "sk-secret", maxRetries: 0 });
  const chat = { model: MODEL, messages: [{ role: "user" as const, content: "Hello" }] };

  it("gets its answer by redirect where the engine wants no key, which was dropped on the way", async () => {
    await using house = await startHouse();
    const { choices } = await clientOf(`${house.front.url}/v1`).chat.completions.create(chat);
    assert.equal(choices[0]?.message.content, "Hello.");
    assert.equal(arrivedAt(house).headers.authorization, undefined);
  });
  it("gets 401 by redirect where the engine wants one", async () => {
    await using house = await startHouse(true);
    await assert.rejects(clientOf(`${house.front.url}/v1`).chat.completions.create(chat), { status: 401 });
  });
  it("gets its answer, key and all, when it sends to the region that a 307 told it", async () => {
    await using house = await startHouse(true);
    const told = await fetch(`${house.front.url}/v1/models`, { redirect: "manual" });
    await told.text();
    const origin = new URL(told.headers.get("location") ?? "").origin;
    const { choices } = await clientOf(`${origin}/v1`).chat.completions.create(chat);
    assert.equal(choices[0]?.message.content, "Hello.");
    assert.equal(house.engine.arrived.at(-1)?.headers.authorization, "Bearer sk-secret");
  });
  it("shows its user the front door's own words for a model that nobody has", async () => {
    await using house = await startHouse();
    const asked = clientOf(`${house.front.url}/v1`).chat.completions.create({ ...chat, model: "gpt-9" });
    await assert.rejects(asked, { status: 404, code: "model_not_found", message: /`gpt-9` does not exist/ });
  });
});
